"""Leases are kept alive on a thread and a connection of their own, and given up when they cannot be (PAU-15, E3)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.desk import Desk
from holdfast.clock import ManualClock, SystemClock
from holdfast.engine.heartbeat import Heartbeat
from holdfast.errors import LedgerUnavailable
from holdfast.model.lease import Lease
from holdfast.ports import Ledger
from waiting import wait_until

LIFE_S = 1.5


class Beats:
    """Collects what a heartbeat tells, and lets a test wait for it."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, int]] = []
        self._came = threading.Semaphore(0)

    def __call__(self, asked: tuple[Lease, ...], kept: tuple[Lease, ...]) -> None:
        self.heard.append((len(asked), len(kept)))
        self._came.release()

    def wait(self) -> None:
        assert self._came.acquire(timeout=10)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def started(desk: Desk, open_ledger: Callable[[], Ledger], beats: Beats) -> Heartbeat:
    heartbeat = Heartbeat(open_ledger, SystemClock(), life_s=LIFE_S, on_beat=beats)
    heartbeat.start(desk.leases, asked_ms=SystemClock().monotonic_ms())
    return heartbeat


def test_leases_are_renewed_within_their_life(desk: Desk) -> None:
    """PAU-15: every third of it, so that three beats pass before the first lease would have lapsed."""
    beats = Beats()
    heartbeat = started(desk, desk.open, beats)
    for _ in range(4):
        beats.wait()
    assert heartbeat.usable()
    heartbeat.stop()
    assert beats.heard == [(18, 18)] * len(beats.heard)
    assert not any(holder.lapsed for holder in desk.ledger.holders(desk.job.id))


def test_beats_that_the_ledger_does_not_take_are_known_before_a_lease_of_others_lapses(desk: Desk) -> None:
    """Somebody else's last beat was a third of a life before ours at most, so it lasts two thirds from ours on."""
    clock = ManualClock()
    heartbeat = Heartbeat(desk.open, clock, life_s=30, on_beat=Beats())
    heartbeat.start(desk.leases, asked_ms=clock.monotonic_ms())
    heartbeat.stop()
    clock.advance(12)  # the next beat may take its time
    assert heartbeat.is_written()
    clock.advance(7)
    assert heartbeat.usable()
    assert not heartbeat.is_written()


def test_a_beat_that_finds_its_leases_lost_is_taken_by_the_ledger_all_the_same(desk: Desk) -> None:
    beats = Beats()
    heartbeat = started(desk, desk.open, beats)
    desk.ledger.release(desk.leases)
    wait_until(lambda: not heartbeat.usable(), 10, "our deadline has passed")
    wait_until(heartbeat.is_written, 10, "a beat was written")
    heartbeat.stop()
    assert beats.heard[-1] == (18, 0)


def test_time_asleep_is_no_active_time(desk: Desk) -> None:
    """PAU-07: what lasted longer than a lease was no work."""
    clock = ManualClock()
    heartbeat = Heartbeat(desk.open, clock, life_s=30, on_beat=Beats(), time_is_limited=True)
    heartbeat.start(desk.leases, asked_ms=clock.monotonic_ms())
    heartbeat.stop()
    clock.advance(20)
    assert heartbeat.active_ms() == 20_000
    clock.advance(86_400)
    assert heartbeat.active_ms() == 30_000


def test_active_time_is_told_once(desk: Desk) -> None:
    """PAU-07."""
    beats = Beats()
    began = SystemClock().monotonic_ms()
    heartbeat = started(desk, desk.open, beats)
    for _ in range(3):
        beats.wait()
    heartbeat.stop()
    told = desk.ledger.books(desk.job.id)[0].active_ms + heartbeat.active_ms()
    assert 3 * LIFE_S / 3 * 1000 <= told <= SystemClock().monotonic_ms() - began


def test_a_chunk_that_went_to_another_is_told_as_lost(desk: Desk) -> None:
    beats = Beats()
    desk.ledger.release(desk.leases[:5])
    heartbeat = started(desk, desk.open, beats)
    beats.wait()
    heartbeat.stop()
    assert beats.heard[0] == (18, 13)


def test_leases_that_cannot_be_renewed_are_not_used_to_their_end(desk: Desk) -> None:
    """E3, the self-fence: the worker's own deadline comes before the store's."""
    tried = threading.Semaphore(0)

    def unreachable() -> Ledger:
        tried.release()
        raise LedgerUnavailable

    heartbeat = started(desk, unreachable, Beats())
    assert heartbeat.usable()
    for _ in range(3):
        assert tried.acquire(timeout=10)
    assert not heartbeat.usable()
    heartbeat.stop()


class HandDriven:
    """An event loop that gets its turns only while a test gives it some."""

    def __init__(self) -> None:
        self.loop, self.stood_still = asyncio.new_event_loop(), threading.Event()

    def turn(self) -> None:
        self.loop.run_until_complete(asyncio.sleep(LIFE_S))

    def started(self, desk: Desk, beats: Beats) -> Heartbeat:
        heartbeat = Heartbeat(desk.open, SystemClock(), life_s=LIFE_S, on_beat=beats)
        heartbeat.watch(self.loop, self.stood_still.set)
        heartbeat.start(desk.leases, asked_ms=SystemClock().monotonic_ms())
        return heartbeat


@pytest.fixture
def driven() -> Iterator[HandDriven]:
    made = HandDriven()
    yield made
    made.loop.close()


def all_lapsed(desk: Desk) -> bool:
    return all(holder.lapsed for holder in desk.ledger.holders(desk.job.id))


def test_the_leases_of_a_loop_that_stands_still_lapse(desk: Desk, driven: HandDriven) -> None:
    """PAU-16: the heartbeat's thread runs on, and renews nothing any more."""
    beats = Beats()
    heartbeat = driven.started(desk, beats)
    beats.wait()  # of the turn that it had
    assert driven.stood_still.wait(10)
    wait_until(lambda: all_lapsed(desk), 10, "leases that lapsed")
    assert (len(beats.heard), heartbeat.usable(), heartbeat.is_behind()) == (1, False, True)
    heartbeat.stop()


def test_a_loop_that_goes_on_keeps_what_nobody_has_taken_meanwhile(desk: Desk, driven: HandDriven) -> None:
    """PAU-16: a page that computes for long, and no other worker: nothing is lost."""
    beats = Beats()
    heartbeat = driven.started(desk, beats)
    beats.wait()
    wait_until(lambda: all_lapsed(desk), 10, "leases that lapsed")
    driven.turn()
    wait_until(lambda: not heartbeat.is_behind(), 10, "a beat that follows")
    assert heartbeat.usable()
    assert beats.heard[1] == (18, 18)
    heartbeat.stop()


def test_time_that_passes_while_the_whole_process_sleeps_is_no_standstill(desk: Desk) -> None:
    """PAU-16: turns are counted, not timed: as after SIGCONT, an hour later, the next beat is written."""
    beats, clock, driven = Beats(), ManualClock(), HandDriven()
    heartbeat = Heartbeat(desk.open, clock, life_s=LIFE_S, on_beat=beats)
    heartbeat.watch(driven.loop, driven.stood_still.set)
    clock.advance(3600)
    heartbeat.start(desk.leases, asked_ms=clock.monotonic_ms())
    beats.wait()
    assert not driven.stood_still.is_set()
    assert not heartbeat.is_behind()
    heartbeat.stop()
    driven.loop.close()
