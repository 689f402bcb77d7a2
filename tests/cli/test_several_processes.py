"""`--processes N` as typed: what cannot be is refused before anything is stored, and what was measured can be read."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import DEADLINE_S, PROGRAM, Running, crawl_words, environment, holdfast, ledger_in
from holdfast.demo.serving import WorldServer
from waiting import wait_until

IGNORING = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("number", ["0", "17", "two", "-1"])
def test_a_number_of_processes_that_cannot_be_is_refused(tmp_path: Path, tree: WorldServer, number: str) -> None:
    done = holdfast(*crawl_words(tree, f"--processes={number}"), cwd=tmp_path)
    assert done.code == 2
    assert "--processes" in done.err


def test_more_processes_than_fetches_at_once_are_refused_and_no_job_is_made(tmp_path: Path, tree: WorldServer) -> None:
    done = holdfast(*crawl_words(tree, "--processes", "3", "--concurrency", "2"), cwd=tmp_path)
    assert done.code == 2
    assert "3 processes cannot share 2 fetches at once" in done.err
    with ledger_in(tmp_path) as ledger:
        assert ledger.jobs() == []


def test_a_job_with_too_little_concurrency_is_not_resumed_by_more_processes(tmp_path: Path, tree: WorldServer) -> None:
    assert holdfast(*crawl_words(tree, "--concurrency", "1", "--start-paused"), cwd=tmp_path).code == 0
    done = holdfast("resume", "frogs", "--processes", "2", cwd=tmp_path)
    assert done.code == 2
    assert "2 processes cannot share 1 fetches at once" in done.err


def test_two_processes_tell_how_long_their_commits_waited(tmp_path: Path, tree: WorldServer) -> None:
    done = holdfast(*crawl_words(tree, "--processes", "2", "--json=status,lock_wait_ms", "-v"), cwd=tmp_path)
    assert done.code == 0, done.err
    waited = done.json()["lock_wait_ms"]
    assert waited["count"] > 2
    assert 0 < waited["p50"] <= waited["p95"] <= waited["max"] <= waited["sum"]
    assert "ledger lock wait: p50 " in done.err


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_run_is_shown_as_active_from_its_first_seconds(tmp_path: Path, slow_tree: WorldServer, number: str) -> None:
    """Its time is told to the ledger with the beats of its lease, the first of them after ten seconds."""
    crawl = Running(*crawl_words(slow_tree, "--processes", number), cwd=tmp_path)
    try:
        wait_until(lambda: active_s(tmp_path) > 1, 8, "a second of work is shown")
        with ledger_in(tmp_path) as ledger:
            assert ledger.jobs()[0].active_ms == 0
    finally:
        crawl.send(signal.SIGTERM)
        assert crawl.end().code == 11
    assert 1 < active_s(tmp_path) < 12


def active_s(folder: Path) -> float:
    shown = holdfast("status", "frogs", "--json=active_seconds", cwd=folder)
    return float(shown.json()["active_seconds"]) if shown.code == 0 else 0.0


def test_one_process_is_worked_as_ever(tmp_path: Path, tree: WorldServer) -> None:
    done = holdfast(*crawl_words(tree, "--processes", "1", "--json"), cwd=tmp_path)
    assert (done.code, done.json()["status"]) == (0, "completed")
    assert "lock_wait_ms" not in done.json()


def test_who_was_started_with_the_end_of_children_ignored_still_waits_for_its_workers(
    tmp_path: Path, tree: WorldServer
) -> None:
    """As some services and container starters start their programs: an ignored signal is inherited."""
    done = subprocess.run(
        [sys.executable, "-c", IGNORING, *PROGRAM, *crawl_words(tree, "--processes", "2")],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
