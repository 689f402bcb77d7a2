"""A time limit counts the time in which a job is worked: no pause, no downtime, and no clock that somebody sets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engine.desk import FAST, MARSH, page
from engine.test_session import Marsh
from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from holdfast.model.exchange import Response
from holdfast.ports import SessionEnd

HOUR_MS = 3_600_000
LIMIT_S = 1.2
LATE_MS_MAX = 1_000
TRIES = 3
LIMITED = msgspec.structs.replace(FAST, time_limit_s=LIMIT_S)


class SetClock(SystemClock):
    """The computer's clocks; the wall one can be set."""

    wall_by_ms = 0

    def wall_ms(self) -> int:
        return super().wall_ms() + self.wall_by_ms


class Endless:
    """A site without end that answers within a hundredth of a second; `then` happens during its tenth answer."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.asked, self.then = 0, then

    async def __call__(self, url: str) -> Response:
        self.asked += 1
        if self.asked == 10:
            self.then()
        await asyncio.sleep(0.01)
        n = int(url.rpartition("/")[2])
        return page(url, *(f"/pond/{3 * n + k}" for k in (1, 2, 3)))


def assert_timed_out(play: Callable[[Path], tuple[Marsh, SessionEnd]], folder: Path) -> None:
    """Each time that it is played; and not a second late, which a machine that does other work, too, may be once."""
    for n in range(TRIES):
        (folder / str(n)).mkdir()
        marsh, ended = play(folder / str(n))
        assert (ended.how, ended.job.status, ended.job.stop_reason) == ("timeout", "timeout", "time_limit")
        late_ms = ended.job.active_ms - LIMIT_S * 1000
        assert late_ms >= 0
        assert ended.counts.pending > 0
        assert list(verify(marsh.ledger.query, marsh.job.id)) == []
        if late_ms <= LATE_MS_MAX:
            return
    assert late_ms <= LATE_MS_MAX


@pytest.mark.parametrize("leap_ms", [HOUR_MS, -HOUR_MS])
def test_a_clock_that_is_set_while_the_job_is_worked_changes_nothing(tmp_path: Path, leap_ms: int) -> None:
    """PAU-07, L11."""

    def play(folder: Path) -> tuple[Marsh, SessionEnd]:
        clock = SetClock()
        site = Endless(then=lambda: setattr(clock, "wall_by_ms", leap_ms))
        marsh = Marsh(folder, site, LIMITED)
        ended = marsh.run(clock=clock)
        assert site.asked > 10
        return marsh, ended

    assert_timed_out(play, tmp_path)


@pytest.mark.parametrize("leap_ms", [HOUR_MS, -HOUR_MS])
@pytest.mark.parametrize("why", ["pause", "drain"])
def test_pauses_and_downtime_do_not_count(tmp_path: Path, why: str, leap_ms: int) -> None:
    """PAU-07: an hour of it, or a clock that says it was less than nothing."""

    def play(folder: Path) -> tuple[Marsh, SessionEnd]:
        clock, site = SetClock(), Endless()
        marsh = Marsh(folder, site, LIMITED)
        first = marsh.session(clock=clock)
        site.then = lambda: first.interrupt(why)
        stopped = first.run()
        assert stopped.how in ("paused", "interrupted")
        used_ms, asked = stopped.job.active_ms, site.asked
        assert used_ms < LIMIT_S * 1000
        clock.wall_by_ms = leap_ms
        ended = marsh.run(clock=clock)
        assert site.asked > asked
        return marsh, ended

    assert_timed_out(play, tmp_path)


def test_a_limit_is_kept_though_steps_do_not_let_go_of_the_loop(tmp_path: Path) -> None:
    """PAU-07: each computes for longer than a nap of the process lasts that counts as one (half of `stale_after`)."""

    async def computes(url: str) -> Response:
        threading.Event().wait(0.7)
        n = int(url.rpartition("/")[2])
        return page(url, *([f"/pond/{n + 1}"] if n < 11 else []))

    marsh = Marsh(tmp_path, computes, msgspec.structs.replace(LIMITED, concurrency=1))
    ended = marsh.run(stale_after_s=1.0, lease_s=1.0)
    assert (ended.how, ended.job.stop_reason) == ("timeout", "time_limit")
    assert ended.counts.succeeded < 8


def test_a_time_that_was_used_up_is_not_used_again(tmp_path: Path) -> None:
    site = Endless()
    marsh = Marsh(tmp_path, site, LIMITED)
    marsh.run()
    asked = site.asked
    assert marsh.ready().status == "timeout"
    assert site.asked == asked


def test_pages_in_hand_at_the_limit_get_a_second_and_are_handed_back(tmp_path: Path) -> None:
    """PAU-08: the limit is kept to about a second, and what was begun is pending again with its attempt."""

    async def never(url: str) -> Response:
        await asyncio.Event().wait()
        raise AssertionError(url)

    marsh = Marsh(tmp_path, never, LIMITED)
    ended = marsh.run()
    assert (ended.how, ended.counts.pending, ended.counts.in_progress) == ("timeout", 1, 0)
    assert ended.job.active_ms < (LIMIT_S + 3.5) * 1000  # and not the five that a pause gives them here
    [seed] = marsh.ledger.targets(marsh.job.id)
    assert (seed.url, seed.attempts) == (f"{MARSH}/pond/0", 0)
