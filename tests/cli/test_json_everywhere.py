"""`--json` and `--jsonl` work with every command: stdout is JSON, or the command says that it has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.commands import holdfast, ledger_in, submit
from cli.schemas import validator

CASES = ("cases", "IMM-8-25..IMM-40-25", "--url", "https://c.example/{prefix}-{number}-{year}", "--dry-run")
FORUM = """
from holdfast.recipe import Recipe, target

recipe = Recipe("forum")


@recipe.plan
def plan(params):
    for number in range(3):
        yield target(f"https://forum.test/{number}", type="board")


@recipe.step("board")
async def board(page):
    yield page.record(text="croak")
"""


def test_the_plan_of_a_range_is_a_document(tmp_path: Path) -> None:
    """What people are shown: the first targets, and how many there are."""
    done = holdfast(*CASES, "--json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    told = done.json()
    validator("plan_preview").validate(told)
    assert (told["kind"], told["planned_total"], told["at_least"], len(told["sample"])) == ("cases", 33, False, 20)
    assert told["sample"][0] == {"type": "case", "key": "IMM-8-25", "url": "https://c.example/IMM-8-25"}
    assert not (tmp_path / "holdfast-data").exists()


def test_the_plan_of_a_recipe_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "forum.py").write_text(FORUM)
    told = holdfast("run", "forum.py", "--dry-run", "--json", cwd=tmp_path).json()
    validator("plan_preview").validate(told)
    assert (told["kind"], told["planned_total"]) == ("forum", 3)
    assert [row["url"] for row in told["sample"]] == [f"https://forum.test/{number}" for number in range(3)]
    assert {row["key"] for row in told["sample"]} == {None}


def test_the_lines_of_a_plan_are_its_targets(tmp_path: Path) -> None:
    done = holdfast(*CASES, "--jsonl", cwd=tmp_path)
    assert [json.loads(line)["key"] for line in done.out.splitlines()] == [f"IMM-{n}-25" for n in range(8, 28)]
    assert "The plan has 33 targets" in done.err


def test_the_fields_of_a_plan_are_chosen_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    assert holdfast(*CASES, "--json=planned_total", cwd=tmp_path).json() == {"planned_total": 33}
    done = holdfast(*CASES, "--json=frogs", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "there is no field 'frogs'" in done.problem()["detail"]


def test_a_list_of_plans_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "ranges.csv").write_text("first,last\n1,2\n5,6\n")
    (tmp_path / "range.toml").write_text('kind = "cases"\nrange = "IMM-{first}-25..IMM-{last}-25"\nurl = "court"\n')
    (tmp_path / "holdfast.toml").write_text('sources.court = { url = "https://c.example/{number}" }\n')
    done = holdfast("run", "ranges.csv", "--template", "range.toml", "--dry-run", "--json", cwd=tmp_path)
    assert (done.code, [row["exit_code"] for row in done.json()["jobs"]]) == (0, [0, 0]), done.err


def test_the_bare_command_lists_the_jobs(tmp_path: Path) -> None:
    assert holdfast("--json", cwd=tmp_path).json()["jobs"] == []
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    told = holdfast("--json", cwd=tmp_path).json()
    validator("jobs").validate(told)
    assert told == holdfast("status", "--json", cwd=tmp_path).json()
    assert [json.loads(line) for line in holdfast("--jsonl", cwd=tmp_path).out.splitlines()] == told["jobs"]
    done = holdfast("--json=foo", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "there is no field 'foo'" in done.problem()["detail"]


@pytest.mark.parametrize("option", ["--json", "--jsonl"])
def test_the_demo_says_that_it_has_none(tmp_path: Path, option: str) -> None:
    done = holdfast("demo", option, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "has no JSON" in done.problem()["detail"]
