"""A job of two phases, killed at random in each of them and in between, ends like an undisturbed one (JOB-04)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import pytest

from crash.texts_kind import OPTIONS, PAGES, body_of, open_ledger, worked
from holdfast.audit.verify import verify
from holdfast.engine.planner import results_of
from waiting import wait_until

# More kills need more pages: a process that is killed before it has tried its suspects one by one makes them poison.
KILLS = PAGES // 15
SLOW = {"TEXTS_SLOW_S": "0.1"}  # so that it is not at its end before somebody has counted its lines
URLS = [f"https://marsh.test/frog/{n}" for n in range(PAGES)]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    return "sqlite" if request.param == "sqlite" else str(request.getfixturevalue("pg_schema_url"))


def lines(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def killed_after(folder: Path, database: str, more: int, fault: str = "") -> int:
    """The process that works the job, killed when so many more lines are in the log; how it ended."""
    begun = len(lines(folder))
    command = [sys.executable, "-m", "crash.texts_kind", str(folder), database]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "HOLDFAST_FAULT": fault, **SLOW}
    with subprocess.Popen(command, env=environ) as process:
        wait_until(lambda: process.poll() is not None or len(lines(folder)) >= begun + more, seconds=60)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    return process.returncode


def assert_whole(folder: Path, database: str, kills: int) -> None:
    with closing(open_ledger(folder, database)) as ledger:
        job, counts, _ = ledger.books(ledger.job("texts").id)
        assert (job.status, job.phase, counts.succeeded, counts.discovered) == (
            "completed", "extracting", 2 * PAGES, 2 * PAGES,
        )  # fmt: skip
        texts = [msgspec.json.decode(row.record) for row in results_of(ledger, job.id) if row.kind == "text"]
        assert sorted(text["of"] for text in texts) == sorted(URLS)
        assert {text["words"] for text in texts} == {len(body_of(URLS[0]).split())}
        assert [found for found in verify(ledger.query, job.id) if found.law.name != "F1.page"] == []
    log = lines(folder)
    done = Counter(log)
    assert set(done) == {f"{kind} {url}" for kind in ("page", "text") for url in URLS}
    in_hand = 2 * OPTIONS.concurrency  # a worker's: in flight, and finished but not committed yet (Worker.in_hand_max)
    assert sum(done.values()) - 2 * PAGES <= kills * in_hand
    first_text = next(index for index, line in enumerate(log) if line.startswith("text"))
    assert not any(line.startswith("page") for line in log[first_text:]), "a text was made before the last page"


def test_both_phases_come_through_undisturbed(tmp_path: Path, database: str) -> None:
    assert worked(tmp_path, database).how == "completed"
    assert_whole(tmp_path, database, kills=0)


def test_kills_at_random_in_both_phases_change_nothing(tmp_path: Path, database: str) -> None:
    random, kills = Random(11), 0
    for _ in range(KILLS):
        kills += killed_after(tmp_path, database, random.randint(OPTIONS.concurrency + 1, 26)) == -signal.SIGKILL
    worked(tmp_path, database)
    assert kills == KILLS
    assert_whole(tmp_path, database, kills)


@pytest.mark.parametrize("point", ["advance.before_commit", "advance.after_commit"])
@pytest.mark.parametrize("hit", [1, 2])
def test_a_kill_between_two_phases_and_at_the_end_changes_nothing(
    tmp_path: Path, database: str, point: str, hit: int
) -> None:
    assert killed_after(tmp_path, database, 10 * PAGES, f"{point}:{hit}:kill") == -signal.SIGKILL
    worked(tmp_path, database)
    assert_whole(tmp_path, database, kills=1)
