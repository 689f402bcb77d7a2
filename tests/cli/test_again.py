"""restart and rescan through the real thing: the same rows once more, killed in the middle of the walk (TGT-04)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, until_some_are_done
from holdfast.control import reopen
from holdfast.demo.serving import WorldServer


def rescan(folder: Path, mode: str = "full") -> None:
    with ledger_in(folder) as ledger:
        reopen.rescan(ledger, ledger.job("frogs"), mode=mode, actor="test")


def generations(folder: Path) -> list[int]:
    rows = holdfast("targets", "frogs", "--json", cwd=folder).json()["targets"]
    return [row["generation"] for row in rows if row["status"] == "succeeded"]


def test_a_rescan_fetches_every_page_again_as_a_new_generation(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    rescan(tmp_path)
    done = holdfast("resume", "frogs", cwd=tmp_path)
    assert done.code == 0, done.err
    assert generations(tmp_path) == [2] * 60
    rows = holdfast("export", "frogs", "-o", "-", "--format", "jsonl", cwd=tmp_path).out.splitlines()
    assert len(rows) == 60
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        assert [run.mode for run in ledger.runs(ledger.job("frogs").id)] == ["full", "full"]


@pytest.mark.parametrize("place", ["walk.before_commit:1", "walk.after_commit:1"])
def test_a_rescan_killed_in_the_middle_of_its_walk_goes_on(tree: WorldServer, tmp_path: Path, place: str) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    rescan(tmp_path)
    killed = holdfast("resume", "frogs", cwd=tmp_path, HOLDFAST_FAULT=f"{place}:kill")
    assert killed.code == -signal.SIGKILL
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert generations(tmp_path) == [2] * 60
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0


def test_what_was_fetched_before_is_exported_until_it_is_fetched_anew(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    rescan(tmp_path)
    with ledger_in(tmp_path) as ledger:
        ledger.walk(ledger.job("frogs").id)
    rows = holdfast("export", "frogs", "-o", "-", "--format", "jsonl", cwd=tmp_path).out.splitlines()
    assert len(rows) == 60


def test_a_paused_job_is_restarted_and_runs_again_from_its_seeds(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    until_some_are_done(tmp_path)
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    crawl.end()
    settled = holdfast("status", "frogs", "--json", cwd=tmp_path).json()["counts"]["succeeded"]
    assert settled
    done = holdfast("restart", "frogs", "--json=status", cwd=tmp_path)
    assert (done.code, done.json()) == (0, {"status": "pending"})
    assert "start: holdfast crawl frogs" in done.err
    again = Running("crawl", "frogs", cwd=tmp_path)
    again.wait_for(" crawling succeeded=")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    again.end()
    rows = holdfast("targets", "frogs", "--where", "status:succeeded,pending", "--json", cwd=tmp_path).json()["targets"]
    assert sum(row["generation"] == 2 for row in rows) == settled
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
