"""When a claimed target is sent: the worker's own last word on politeness, with a clock moved by hand."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, cast

from holdfast.clock import ManualClock
from holdfast.engine.execute import Finished, handed_back
from holdfast.engine.group import Group
from holdfast.engine.pace import Pace
from holdfast.engine.patience import Patience
from holdfast.engine.worker import Worker
from holdfast.model.job import Options
from holdfast.model.lease import Lease
from holdfast.model.outcome import Verdict
from holdfast.model.target import Claimed


class Sent:
    """In place of an executor: notes what is begun, and never ends it."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.late: list[bool] = []

    async def work(self, claimed: Claimed, *, late: bool) -> Finished:
        self.urls.append(claimed.url)
        self.late.append(late)
        await asyncio.Event().wait()
        raise AssertionError(claimed.url)


class Lives:
    def usable(self) -> bool:
        return True


def claimed(n: int, host: str) -> Claimed:
    return Claimed(n, 1, 1, bytes(16), f"https://{host}/{n}", host, "page", 0, None, 0, 1, 1)


def worker_with(clock: ManualClock, sent: Sent, *queue: Claimed) -> Worker:
    parts: dict[str, Any] = dict.fromkeys(
        ("job", "thread", "group", "blobs", "planner", "has_room", "on_commit", "on_idle", "random", "checkpointer")
    )
    worker = Worker(
        **parts,
        options=Options(concurrency=8),
        clock=clock,
        executor=cast(Any, sent),
        heartbeat=cast(Any, Lives()),
        stop_deadline_s=1.0,
        in_levels=False,
        pace=Pace(delay_ms=50, jitter=0.2),
    )
    worker._queue.extend(queue)
    return worker


async def begin(worker: Worker) -> None:
    worker._start_tasks()
    await asyncio.sleep(0)


def test_two_claims_of_a_host_that_waited_together_are_not_sent_together() -> None:
    async def run() -> None:
        clock, sent = ManualClock(), Sent()
        worker = worker_with(clock, sent, claimed(1, "frog.test"), claimed(2, "frog.test"), claimed(3, "toad.test"))
        await begin(worker)
        assert sent.urls == ["https://frog.test/1", "https://toad.test/3"]
        clock.advance(0.039)
        await begin(worker)
        assert len(sent.urls) == 2
        clock.advance(0.001)
        await begin(worker)
        assert sent.urls[2:] == ["https://frog.test/2"]
        await worker._abandon()

    asyncio.run(run())


def test_what_is_queued_for_a_host_that_asked_for_patience_is_handed_back_unsent() -> None:
    async def run() -> None:
        clock, sent = ManualClock(), Sent()
        worker = worker_with(clock, sent, claimed(1, "frog.test"), claimed(2, "toad.test"))
        worker.pace.hold("frog.test", 60_000, clock.monotonic_ms())
        await begin(worker)
        assert sent.urls == ["https://toad.test/2"]
        assert [(item.claimed.id, item.verdict.move) for item in worker._waiting] == [(1, "hand_back")]
        await worker._abandon()

    asyncio.run(run())


def test_a_fetch_that_begins_long_after_its_claim_takes_another_turn() -> None:
    """The delay ran from the claim: while a commit lasted, or the queue was full, others may have had their turns."""

    async def run() -> None:
        clock, sent = ManualClock(), Sent()
        worker = worker_with(clock, sent)
        worker._take((claimed(1, "frog.test"),), clock.monotonic_ms())
        clock.advance(0.05)
        await begin(worker)
        worker._take((claimed(2, "toad.test"),), clock.monotonic_ms())
        clock.advance(0.051)
        await begin(worker)
        worker._take((claimed(3, "newt.test"),))  # adopted: nobody knows when it was claimed
        await begin(worker)
        assert sent.late == [False, True, True]
        assert worker._asked_ms == {}
        await worker._abandon()

    asyncio.run(run())


def test_what_a_page_may_have_found_is_claimed_with_it_though_nothing_was_due_a_moment_before() -> None:
    """Else the second page of a crawl waits for a quarter of a second, and so does its end."""
    clock = ManualClock()
    worker = worker_with(clock, Sent())
    worker.group, worker.random = (
        Group(1, "w", {1: Lease(1, 1, "work", 0, 1, 0, "crawling")}, Patience(ManualClock())),
        Random(7),
    )
    worker.has_room = lambda: True
    worker._idle_until_ms = clock.monotonic_ms() + 250
    frog = claimed(1, "frog.test")
    done = Finished(frog, Verdict(target=1, move="succeed", began_at=0, ended_at=0))
    assert worker._wish([]) is None
    assert worker._wish([handed_back(frog, 0, "the host asked for patience")]) is None
    assert worker._wish([done]) is not None
