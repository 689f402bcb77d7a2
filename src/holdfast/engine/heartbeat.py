"""Keeping leases alive, on a thread and a ledger connection of their own, so that no settle can delay them.

It also carries the job's active time, and brings back requests and losses that a busy worker has not seen yet.

It renews only while the event loop that works under the leases gets its turns: a loop that a page keeps standing still
loses them like a dead process. Turns are counted and not timed, so a process that was stopped as a whole is not
misjudged: its loop gets a turn before the next look.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from holdfast.clock import Clock
from holdfast.errors import HoldfastError
from holdfast.model.lease import Lease
from holdfast.policy.leasing import RENEW_AT_SHARE, may_use
from holdfast.ports import Ledger, OpenLedger

LIMITED_EVERY_S = 1.0
TURNS_PER_BEAT = 4
TURN_EVERY_S_MAX = 1.0
LOOKS_TOLD = 3  # without a turn, before it is told: after a sleep of the process the loop may be the last to wake
WRITTEN_SHARE = 1 / 2  # of a life: longer than from beat to beat, shorter than a lease lasts whose next beat fails
Beat = Callable[[tuple[Lease, ...], tuple[Lease, ...]], None]  # (asked for, kept)


class Heartbeat:
    """Renews every third of a life, and each second where active time is limited.

    `usable()` is the self-fence: false once our own deadline has passed.
    """

    def __init__(
        self,
        open_ledger: OpenLedger,
        clock: Clock,
        *,
        life_s: float,
        on_beat: Beat,
        counts_time: bool = True,
        time_is_limited: bool = False,
        on_wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_ledger, self._clock, self._life_s, self._on_beat = open_ledger, clock, life_s, on_beat
        self._counts_time, self._on_wake = counts_time, on_wake
        often = counts_time and time_is_limited  # what a kill takes with it is not counted against the limit
        self._every_s = min(life_s * RENEW_AT_SHARE, LIMITED_EVERY_S) if often else life_s * RENEW_AT_SHARE
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="heartbeat", daemon=True)
        self._leases: tuple[Lease, ...] = ()
        self._asked_ms = 0
        self._written_ms = 0
        self._counted_ms = 0
        self._ledger: Ledger | None = None
        self._watched: asyncio.AbstractEventLoop | None = None
        self._turn_s = min(self._every_s / TURNS_PER_BEAT, TURN_EVERY_S_MAX)
        self._turns = self._turns_seen = 0
        self._next_turn: asyncio.TimerHandle | None = None
        self._on_standstill: Callable[[], None] = lambda: None
        self._stands_still = False

    def watch(self, loop: asyncio.AbstractEventLoop, on_standstill: Callable[[], None]) -> None:
        """Renew only while this loop gets its turns; to be called on it.

        `on_standstill` is called from the heartbeat's thread, once each time that the loop stands still.
        """
        self._watched, self._on_standstill = loop, on_standstill
        self._take_turn()

    def is_behind(self) -> bool:
        """Whether beats were left out because the loop stood still: the next one follows as soon as it goes on."""
        return self._stands_still

    def start(self, leases: tuple[Lease, ...], *, asked_ms: int) -> None:
        """`asked_ms`: the monotonic moment just before the lease was asked for."""
        self._leases, self._asked_ms, self._counted_ms = leases, asked_ms, asked_ms
        self._written_ms = asked_ms
        self._thread.start()

    def renew_instead(self, leases: tuple[Lease, ...], *, asked_ms: int) -> None:
        """Those before have lapsed; these were leased anew."""
        self._leases, self._asked_ms = leases, asked_ms

    def usable(self) -> bool:
        """Whether a fetch or settle may still begin under our leases."""
        return may_use(now_ms=self._clock.monotonic_ms(), asked_ms=self._asked_ms, life_ms=round(self._life_s * 1000))

    def is_written(self) -> bool:
        """Whether the ledger takes our beats, whatever it says to them: it may be read and not be written.

        While this holds, the lease of every worker with our beat holds as well: its last beat came at most a third of a
        life before ours and is valid for two thirds more.
        """
        return self._clock.monotonic_ms() - self._written_ms < self._life_s * 1000 * WRITTEN_SHARE

    def active_ms(self) -> int:
        """Active time not yet told to the ledger; asking takes it. 0 where another process counts the job's time.

        Never more than a lease's life: for what lasted longer we slept, or the ledger was away.
        """
        now = self._clock.monotonic_ms()
        spent, self._counted_ms = now - self._counted_ms, now
        return min(max(0, spent), round(self._life_s * 1000)) if self._counts_time else 0

    def stop(self) -> None:
        """On the loop that is watched, if there is one."""
        if self._next_turn is not None:
            self._next_turn.cancel()
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        try:
            while not self._stop.wait(self._every_s):
                self._on_wake()
                if self._goes_on():
                    self._beat()
                    self._stands_still = False
                self._on_wake()
        finally:
            if self._ledger is not None:
                self._ledger.close()

    def _take_turn(self) -> None:
        assert self._watched is not None
        self._turns += 1
        self._next_turn = self._watched.call_later(self._turn_s, self._take_turn)

    def _goes_on(self) -> bool:
        """Wait until the loop has had a turn since the last beat; False: we were told to stop first."""
        looks = 0
        while self._watched is not None and self._turns == self._turns_seen:
            looks += 1
            if looks == LOOKS_TOLD:
                self._stands_still = True
                self._on_standstill()
            if self._stop.wait(self._turn_s):
                return False
            self._on_wake()
        self._turns_seen = self._turns
        return True

    def _beat(self) -> None:
        """A beat that cannot be written is tried again by the next; the self-fence watches the deadline meanwhile."""
        leases, asked_ms, before = self._leases, self._clock.monotonic_ms(), self._counted_ms
        if not leases:
            return
        try:
            if self._ledger is None:
                self._ledger = self._open_ledger()
            kept = self._ledger.renew(leases, life_s=self._life_s, active_ms=self.active_ms())
        except HoldfastError:
            self._counted_ms = before
            return
        self._written_ms = asked_ms
        if kept:
            self._asked_ms = asked_ms
        self._on_beat(leases, kept)
