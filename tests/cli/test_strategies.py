"""`resume --strategy`: which targets are worked again (PAU-12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast, ledger_in, put_into, submit
from cli.worked import write_many_pending
from holdfast.demo.serving import WorldServer


def failed_two(world: WorldServer, folder: Path) -> list[str]:
    """A complete job in which one page of two failed."""
    words = ["crawl", f"{world.url}/p/59", f"{world.url}/p/60", "--allow", world.address, "--delay", "0"]
    assert holdfast(*words, "--name", "frogs", cwd=folder).code == 3
    return words


def asked_for(world: WorldServer, path: str) -> int:
    return sum(ask["key"].endswith(path) for ask in world.asks())


@pytest.mark.parametrize("strategy", ["auto", "retry_failed_only"])
def test_what_failed_is_tried_again_and_what_is_done_is_not(strategy: str, tree: WorldServer, tmp_path: Path) -> None:
    """PAU-12: a target whose latest attempt failed."""
    failed_two(tree, tmp_path)
    before = asked_for(tree, "/p/59"), asked_for(tree, "/p/60")
    done = holdfast("resume", "frogs", "--strategy", strategy, cwd=tmp_path)
    assert done.code == 3, done.err
    assert "Queued 1 failed target of frogs again." in done.err
    assert (asked_for(tree, "/p/59"), asked_for(tree, "/p/60")) == (before[0], before[1] + 1)
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


@pytest.mark.parametrize("words", [[], ["--strategy", "redo_in_progress"]])
def test_what_failed_stays_failed_unless_asked_for(words: list[str], tree: WorldServer, tmp_path: Path) -> None:
    failed_two(tree, tmp_path)
    before = asked_for(tree, "/p/60")
    done = holdfast("resume", "frogs", *words, cwd=tmp_path)
    assert (done.code, asked_for(tree, "/p/60")) == (3, before)
    assert "frogs is complete: 1 done, 1 failed" in done.err


def test_only_what_failed_means_nothing_else_is_left(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-pages", "5"), cwd=tmp_path).code == 13
    done = holdfast("resume", "frogs", "--strategy", "retry_failed_only", cwd=tmp_path)
    assert done.code == 6
    assert "Allowed: holdfast resume frogs --strategy auto, holdfast retry frogs." in done.err


def test_none_begins_from_the_seeds_again(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    before = asked_for(tree, "/p/0")
    done = holdfast("resume", "frogs", "--strategy", "none", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "discovered 60 = 60 succeeded" in done.err
    assert "Starting frogs again from the beginning: 60 done, 0 failed so far, kept until" in done.err
    assert "Resuming" not in done.err
    assert asked_for(tree, "/p/0") == before + 1
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_job_that_begins_again_and_ignores_robots_says_so_again(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--ignore-robots", "--max-depth", "0"), cwd=tmp_path).code == 0
    done = holdfast("resume", "frogs", "--strategy", "none", cwd=tmp_path)
    assert done.err.startswith("Warning: frogs ignores robots.txt")


def test_a_job_that_a_crash_left_is_prepared_too(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "in_progress")
    done = holdfast("resume", "frogs", "--strategy", "auto", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Resuming frogs: " in done.err


def test_a_strategy_is_about_one_job(tmp_path: Path) -> None:
    assert holdfast("resume", "--strategy", "auto", cwd=tmp_path).code == 2
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "cancelled")
    assert holdfast("resume", "frogs", "--strategy", "auto", cwd=tmp_path).code == 6


def test_a_strategy_that_is_refused_leaves_the_job_as_it_was(tmp_path: Path) -> None:
    """A job that a crash left in progress is still taken up by a bare `resume`."""
    write_many_pending(tmp_path, 3, 0)
    done = holdfast("resume", "frogs", "--strategy", "retry_failed_only", cwd=tmp_path)
    assert done.code == 6
    assert holdfast("status", "frogs", "--json=status,paused_by", cwd=tmp_path).json() == {
        "status": "in_progress",
        "paused_by": None,
    }
