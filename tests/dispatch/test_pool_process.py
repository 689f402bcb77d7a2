"""A pool for a program that must not fork: orders reach it whenever they come, and its death is said."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import crawl
from holdfast import wiring
from holdfast.demo.command import living
from holdfast.demo.serving import WorldServer
from holdfast.dispatch.crashes import Unexpected
from holdfast.dispatch.local.messages import Failure
from holdfast.dispatch.local.pool_messages import PoolEnd, PoolMessage, Said, pool_line, pool_messages_in
from holdfast.dispatch.runners import runner_apart
from holdfast.model.job import Counts, Job
from holdfast.ports import Runner
from waiting import wait_until


@pytest.fixture
def slow_tree(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("tree", pages=2000, delay_ms=20, log_path=tmp_path / "requests.jsonl") as world:
        yield world


def pool_on(job: hf.Job, seen: list[Counts]) -> Runner:
    """A pool for a job that is started."""
    with closing(wiring.open_ledger(job._settings)) as ledger:
        row = ledger.job(job.id)
        row = ledger.move(row.id, "start", actor="test", because="test", version=row.version)

    def progress(job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None:
        seen.append(counts)

    return runner_apart(job._settings, row, 2, progress=progress, say=lambda words: None, trigger="api")


def test_an_order_that_comes_before_the_start_is_obeyed(slow_tree: WorldServer, tmp_path: Path) -> None:
    job = crawl(hf.Client(data=tmp_path / "data"), slow_tree)
    runner = pool_on(job, [])
    runner.interrupt("pause")
    assert runner.run().how == "paused"
    assert job.status == "paused"


def test_an_order_to_drain_leaves_the_job_to_the_next_worker(slow_tree: WorldServer, tmp_path: Path) -> None:
    job = crawl(hf.Client(data=tmp_path / "data"), slow_tree)
    seen: list[Counts] = []
    runner = pool_on(job, seen)
    threading.Thread(
        target=lambda: (wait_until(lambda: bool(seen and seen[-1].succeeded), 60, "a page"), runner.interrupt("drain"))
    ).start()
    end = runner.run()
    assert (end.how, end.job.status) == ("interrupted", "in_progress")
    assert (end.counts.in_progress, end.counts.pending > 0) == (0, True)
    assert job.runs()[0].trigger == "api"


def test_the_death_of_the_supervising_process_is_said_and_costs_nothing(slow_tree: WorldServer, tmp_path: Path) -> None:
    job = crawl(hf.Client(data=tmp_path / "data"), slow_tree)
    seen: list[Counts] = []

    def kill() -> None:
        wait_until(lambda: bool(seen and seen[-1].succeeded), 60, "a page")
        [child] = [pid for pid, parent, _ in living() if parent == os.getpid() and is_pool(pid)]
        os.kill(child, signal.SIGKILL)

    threading.Thread(target=kill).start()
    with pytest.raises(Unexpected, match="died of signal 9"):
        pool_on(job, seen).run()
    assert job.status == "in_progress"
    assert job.verify() == []


def is_pool(pid: int) -> bool:
    return b"supervisor_process" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_messages_come_as_they_were_sent_also_in_pieces() -> None:
    sent: list[PoolMessage] = [Said('a\n"b"'), PoolEnd(failure=Failure("BadParams", "no", "hint"))]
    whole = b"".join(map(pool_line, sent))
    first, begun = pool_messages_in(whole[:-1])
    assert first == sent[:1]
    assert pool_messages_in(begun + whole[-1:]) == (sent[1:], b"")
