"""A job in which nothing moves for too long, while a live worker holds it, is failed as stale (PAU-09)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from engine.desk import FAST, page
from engine.test_session import Marsh
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock, SystemClock
from holdfast.engine.liveness import boot_id
from holdfast.engine.timekeeper import Timekeeper
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.exchange import Response
from holdfast.model.job import ONE_PHASE, Job, Phases
from holdfast.model.lease import Lease


async def never(url: str) -> Response:
    await asyncio.Event().wait()
    raise AssertionError(url)


def test_a_job_without_progress_is_failed_as_stale_and_can_be_resumed(tmp_path: Path) -> None:
    """PAU-09."""
    marsh = Marsh(tmp_path, never, FAST)
    ended = marsh.run(stale_after_s=0.3, stop_deadline_s=0.1)
    assert (ended.how, ended.job.status, ended.job.stop_reason) == ("failed", "failed", "stale")
    assert ended.job.because == "stale: nothing moved for 0.3 s while it was worked"
    assert (ended.counts.pending, ended.counts.in_progress, ended.counts.failed) == (1, 0, 0)
    assert list(verify(marsh.ledger.query, marsh.job.id)) == []
    assert marsh.ready().status == "in_progress"


class Interrupted(SqliteLedger):
    """Somebody asks for a pause at the very moment at which the job is to be called stale."""

    def advance(
        self,
        job: int,
        lease: Lease,
        *,
        phases: Phases = ONE_PHASE,
        plan_failed: str = "",
        pages_max: int | None = None,
        stale: str = "",
    ) -> Job | None:
        if stale:
            self.request(job, "pause", actor="ann", because="tea")
        return super().advance(job, lease, phases=phases, plan_failed=plan_failed, pages_max=pages_max, stale=stale)


def test_a_pause_that_came_first_is_what_became_of_the_job(tmp_path: Path) -> None:
    """PAU-09: it is not failed, so nobody is told so."""
    marsh = Marsh(tmp_path, never, FAST)
    ended = marsh.run(
        stale_after_s=0.3,
        stop_deadline_s=0.1,
        open_ledger=lambda: Interrupted.open(marsh.path, SystemClock(), boot_id()),
    )
    assert (ended.how, ended.job.status, ended.job.because) == ("paused", "paused", "tea")


def test_a_job_that_moves_is_not_stale_however_long_it_takes(tmp_path: Path) -> None:
    """PAU-09: six pages that take longer together than would be too long, and each of them a quarter of that."""

    async def slow(url: str) -> Response:
        await asyncio.sleep(0.4)
        n = int(url.rpartition("/")[2])
        return page(url, *([f"/pond/{n + 1}"] if n < 5 else []))

    marsh = Marsh(tmp_path, slow, FAST)
    ended = marsh.run(stale_after_s=1.5)
    assert (ended.how, ended.counts.succeeded) == ("completed", 6)
    assert ended.job.active_ms > 2_000


def test_a_job_that_waits_for_its_host_is_not_stale(tmp_path: Path) -> None:
    """PAU-09: patience that a host asked for is no standstill, however long it is."""
    asked: list[str] = []

    async def busy(url: str) -> Response:
        asked.append(url)
        if len(asked) == 1:
            return Response(url=url, status=429, headers=(("retry-after", "2"),), body=b"")
        return page(url)

    marsh = Marsh(tmp_path, busy, FAST)
    ended = marsh.run(stale_after_s=1.2)
    assert (ended.how, ended.counts.succeeded, len(asked)) == ("completed", 1, 2)


def test_time_when_nobody_worked_the_job_does_not_count(tmp_path: Path) -> None:
    """PAU-09, ruling: an outage makes no job stale. The keeper counts from its own start."""
    clock = ManualClock()
    marsh = Marsh(tmp_path, never, FAST)
    clock.advance(86_400)
    keeper = Timekeeper(clock, marsh.job, asked_ms=clock.monotonic_ms(), stale_after_s=3600)
    assert asked_for(keeper, clock, 3_599) is None
    keeper.moved()
    assert asked_for(keeper, clock, 3_599) is None
    assert asked_for(keeper, clock, 1) == "stale"


def test_time_in_which_the_process_slept_does_not_count(tmp_path: Path) -> None:
    """PAU-09: it was stopped, or stood still for its database; neither stale nor at its limit when it wakes up."""
    clock = ManualClock()
    marsh = Marsh(tmp_path, never, msgspec.structs.replace(FAST, time_limit_s=600))
    keeper = Timekeeper(clock, marsh.job, asked_ms=clock.monotonic_ms(), stale_after_s=300)
    assert asked_for(keeper, clock, 200) is None
    clock.advance(86_400)
    assert keeper.called() is None
    assert asked_for(keeper, clock, 99) is None
    assert asked_for(keeper, clock, 1) == "stale"
    keeper.moved()
    assert asked_for(keeper, clock, 299) is None
    assert asked_for(keeper, clock, 1) == "time_out"


def test_a_time_in_which_nobody_asked_but_the_process_ran_counts_against_the_limit_and_is_no_standstill(
    tmp_path: Path,
) -> None:
    """PAU-09: a step computes for minutes, and only the heartbeat's thread runs meanwhile."""
    clock = ManualClock()
    marsh = Marsh(tmp_path, never, msgspec.structs.replace(FAST, time_limit_s=600))
    keeper = Timekeeper(clock, marsh.job, asked_ms=clock.monotonic_ms(), stale_after_s=300)

    def computes(seconds: int) -> None:
        for _ in range(seconds):
            clock.advance(1)
            keeper.awake()

    computes(599)
    assert keeper.called() is None
    clock.advance(86_400)  # stopped, in the middle of it
    computes(1)
    assert keeper.called() is None
    computes(1)
    assert keeper.called() == "time_out"


@pytest.mark.parametrize("slept_s", [2, 2.5, 4])
def test_a_sleep_a_little_longer_than_a_job_may_stand_still_does_not_count_either(
    tmp_path: Path, slept_s: float
) -> None:
    clock = ManualClock()
    marsh = Marsh(tmp_path, never, FAST)
    keeper = Timekeeper(clock, marsh.job, asked_ms=clock.monotonic_ms(), stale_after_s=2)
    clock.advance(slept_s)
    assert keeper.called() is None
    assert asked_for(keeper, clock, 1) is None
    assert asked_for(keeper, clock, 1) == "stale"


def asked_for(keeper: Timekeeper, clock: ManualClock, seconds: int) -> str | None:
    """Its answer after so many seconds, in each of which it was asked."""
    for _ in range(seconds):
        clock.advance(1)
        answer = keeper.called()
    return answer
