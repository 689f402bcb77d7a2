"""`holdfast label`: marks on targets, by id, key or URL, shown and filterable."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import holdfast
from cli.schemas import validator
from cli.worked import SITE, write_many_failed
from holdfast.testing.fake_web import FakeWeb


def labelled(folder: Path, where: str) -> dict[str, str | None]:
    rows = holdfast("targets", "frogs", "--where", where, "--json", cwd=folder).json()["targets"]
    return {row["url"].removeprefix(SITE): row["label"] for row in rows}


def test_targets_are_marked_by_id_or_url_and_found_by_their_mark(tmp_path: Path) -> None:
    write_many_failed(tmp_path, 3)
    [row] = holdfast("targets", "frogs", "--where", "url:*/frog/2", "--json", cwd=tmp_path).json()["targets"]
    done = holdfast("label", "frogs", row["id"], f"{SITE}/frog/3", "rejected", "--json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "2 targets of frogs marked rejected.\n")
    validator("label").validate(done.json())
    assert (done.json()["label"], done.json()["targets"]) == ("rejected", 2)
    assert labelled(tmp_path, "label:rejected") == {"/frog/2": "rejected", "/frog/3": "rejected"}
    validator("label").validate(holdfast("label", "frogs", row["id"], "--remove", "--json", cwd=tmp_path).json())
    assert labelled(tmp_path, "label:*") == {"/frog/3": "rejected"}
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("rejected",), 2),
        (("T-1", "two words"), 2),
        (("frog", "keep"), 5),
        (("T-ffff", "keep"), 5),
        ((f"{SITE}/newt", "keep"), 5),
    ],
)
def test_what_cannot_be_marked_is_said_in_one_sentence(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    write_many_failed(tmp_path, 1)
    done = holdfast("label", "frogs", *words, cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (code, 1)
    assert labelled(tmp_path, "label:*") == {}


def test_a_case_is_marked_by_its_number(tmp_path: Path) -> None:
    with FakeWeb({"/1": "<h1>Case 1</h1>"}) as web:
        words = ["cases", "IMM-1-25..IMM-2-25", "--url", web.url + "/{number}", *web.options]
        assert holdfast(*words, cwd=tmp_path).code == 0
    done = holdfast("label", "IMM", "IMM-1-25", "/2", "keep", cwd=tmp_path)
    assert (done.code, done.err) == (0, "2 targets of IMM marked keep.\n")
    assert holdfast("label", "IMM", "IMM-1-25", "IMM-3-25", "rejected", cwd=tmp_path).code == 5
    rows = holdfast("targets", "IMM", "--json=key,label", cwd=tmp_path).json()["targets"]
    assert {row["key"]: row["label"] for row in rows} == {"IMM-1-25": "keep", "IMM-2-25": "keep"}
    assert holdfast("verify", "IMM", cwd=tmp_path).code == 0
