"""`holdfast targets`: in any order of a closed list, and as a table that a spreadsheet shows and never executes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import holdfast as hf
from cli.commands import holdfast
from holdfast import wiring
from holdfast.cli.commands.targets import FIELDS
from holdfast.config import Settings
from holdfast.model.target import TargetRow
from holdfast.testing.fake_web import FakeWeb, Said
from holdfast.views.ordering import SORTS, Sort
from holdfast.views.sorting import sorted_targets

SUMS = """
from holdfast.recipe import Recipe, record, target
sums = Recipe("sums")

@sums.plan
def plan(params):
    yield target(params["start"], key="=1+1", type="sum")

@sums.step("sum")
async def sum_up(here, fetch):
    yield record(title=(await fetch(here.url)).text("h1"))
"""


def court(path: str) -> Said:
    """Every third number is a gap."""
    number = int(path.split("-")[1])
    return None if number % 3 == 0 else f"<h1>Case {number}</h1>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A range of nine cases with three gaps."""
    folder = tmp_path_factory.mktemp("targets")
    with FakeWeb(court) as web:
        template = web.url + "/{prefix}-{number}-{year}"
        words = ["cases", "IMM-1-25..IMM-9-25", "--url", template, *web.options]
        assert holdfast(*words, cwd=folder).code == 0
        yield folder


def lines(folder: Path, *more: str) -> list[dict[str, Any]]:
    done = holdfast("targets", "IMM", "--jsonl", *more, cwd=folder)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_gaps_of_a_range_are_a_table_for_spreadsheets(folder: Path) -> None:
    done = holdfast("targets", "IMM", "--where", "disposition:no_record", "--csv", cwd=folder)
    head, *rows = csv.reader(io.StringIO(done.out, newline=""))
    assert tuple(head) == FIELDS
    assert [row[head.index("key")] for row in rows] == ["IMM-3-25", "IMM-6-25", "IMM-9-25"]
    told = lines(folder, "--where", "disposition:no_record")
    assert rows == [["" if value is None else str(value) for value in row.values()] for row in told]


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(SUMS)
    with FakeWeb({"/": "<h1>2</h1>"}) as web:
        words = ["run", "sums.py", "--name", "sums", "--param", f"start={web.url}/", *web.options]
        assert holdfast(*words, cwd=tmp_path).code == 0
    done = holdfast("targets", "sums", "--csv", cwd=tmp_path)
    [row] = csv.DictReader(io.StringIO(done.out, newline=""))
    assert row["key"] == "'=1+1"


def test_a_table_of_nothing_has_its_head(folder: Path) -> None:
    done = holdfast("targets", "IMM", "--where", "status:failed", "--csv", cwd=folder)
    assert (done.code, done.out) == (0, ",".join(FIELDS) + "\r\n")
    assert len(holdfast("targets", "IMM", "--csv", "--limit", "2", cwd=folder).out.splitlines()) == 3


def test_a_table_is_no_json(folder: Path) -> None:
    for form in ("--json", "--jsonl"):
        assert holdfast("targets", "IMM", "--csv", form, cwd=folder).code == 2


@pytest.mark.parametrize("field", SORTS)
def test_targets_are_sorted_by_a_field_either_way(field: str, folder: Path) -> None:
    rising = [row[field] for row in lines(folder, "--sort", field)]
    there = [value for value in rising if value is not None]
    assert len(rising) == 9
    assert there == sorted(there)
    assert rising == there + [None] * (9 - len(there))
    falling = [row[field] for row in lines(folder, "--sort", f"-{field}")]
    assert falling == there[::-1] + [None] * (9 - len(there))


def test_the_order_is_that_of_every_form(folder: Path) -> None:
    newest = [row["id"] for row in lines(folder, "--sort", "-settled_at", "--limit", "4")]
    table = holdfast("targets", "IMM", "--sort=-settled_at", "--limit", "4", "--json=id", cwd=folder).json()
    assert [row["id"] for row in table["targets"]] == newest
    as_csv = csv.DictReader(io.StringIO(holdfast("targets", "IMM", "--sort", "-settled_at", "--csv", cwd=folder).out))
    assert [row["id"] for row in as_csv][:4] == newest
    job = hf.job("IMM", data=folder / "holdfast-data")
    assert [row["id"] for row in job.targets(sort="-settled_at")][:4] == newest


def test_an_unknown_field_is_refused_with_the_list(folder: Path) -> None:
    done = holdfast("targets", "IMM", "--sort", "-setled_at", cwd=folder)
    assert done.code == 2
    assert "targets cannot be sorted by 'setled_at'; did you mean settled_at?" in done.err
    assert " ".join(SORTS) in done.err


def test_more_targets_than_memory_should_hold_are_sorted_all_the_same(tmp_path: Path) -> None:
    draw, storage = Random(3), wiring.storage(Settings(data=tmp_path))
    rows = [a_target(n, draw.choice([None, *range(50)])) for n in range(1000)]
    for falling in (False, True):
        walk = sorted_targets(storage, rows, Sort("settled_at", falling), rows_per_run=64)
        there = sorted((row for row in rows if row.settled_at is not None), key=settled, reverse=falling)
        assert list(walk) == there + [row for row in rows if row.settled_at is None]
    assert list(tmp_path.iterdir()) == []


def settled(row: TargetRow) -> int:
    return row.settled_at or 0


def a_target(n: int, settled_at: int | None) -> TargetRow:
    url = f"https://marsh.test/{n}"
    return TargetRow(
        id=n, key=b"\xff%d" % n, url=url, type="page", status="pending", disposition=None, rule=None, code=None,
        depth=0, parent=None, host="marsh.test", chunk=1, generation=1, attempts=0, not_before=None, because=None,
        found_at=1, settled_at=settled_at, sha256=b"\x00", name="é",
    )  # fmt: skip
