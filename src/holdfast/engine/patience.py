"""Calls that the ledger did not answer, made again: a few times for a waiting user, for minutes in a worker.

Only for calls that are safe to repeat as they are. While a worker waits here it claims nothing and settles nothing, so
nothing is lost by it: at worst its lease lapses, and it leases anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.clock import Clock, pause_thread
from holdfast.errors import LedgerUnavailable
from holdfast.model.lease import OUTAGE_S
from holdfast.model.units import show_duration

T = TypeVar("T")
BACKOFF_FIRST_S = 0.05
BACKOFF_MAX_S = 2.0
HURRIED_S = 5.0  # what is left of it for a stopping session
TOLD_AFTER_S = 1.0
REST_S = 0.05


def repeated(body: Callable[[], T], *, tries: int) -> T:
    """Call until the ledger answers; the last failure is raised."""
    wait_s = BACKOFF_FIRST_S
    for _ in range(tries - 1):
        try:
            return body()
        except LedgerUnavailable:
            pause_thread(wait_s)
            wait_s = min(wait_s * 2, BACKOFF_MAX_S)
    return body()


class Patience:
    """How long one process waits for its ledger, and what people hear of it: that it waits, and when that is over.

    An outage lasts from the first call without an answer to the next call with one. When patience has run out, a call
    is tried once. Used by one thread; any thread may tell it to hurry.
    """

    def __init__(self, clock: Clock, outage_s: float = OUTAGE_S) -> None:
        self._clock, self._outage_s = clock, outage_s
        self._hurried = False
        self._away_since_ms: int | None = None
        self._has_told = False
        self.say: Callable[[str], None] = lambda words: None

    def insist(self, body: Callable[[], T]) -> T:
        """Call until the ledger answers. When patience is at its end, the last failure is raised."""
        wait_s = BACKOFF_FIRST_S
        while True:
            asked_ms = self._clock.monotonic_ms()
            try:
                answer = body()
            except LedgerUnavailable as error:
                if self._away_since_ms is None:
                    self._away_since_ms = asked_ms
                if self._away_s() >= self._limit_s():
                    raise
                self._tell(error)
                self._rest(wait_s)
                wait_s = min(wait_s * 2, BACKOFF_MAX_S)
            else:
                if self._away_since_ms is not None:
                    self._tell_end()
                return answer

    def hurry(self) -> None:
        """This process is asked to stop: it waits for an outage no longer than stopping may take.

        Called by signal handlers, so it is an assignment: a lock might be held by the very code that was interrupted.
        """
        self._hurried = True

    def _away_s(self) -> float:
        return (self._clock.monotonic_ms() - (self._away_since_ms or 0)) / 1000

    def _limit_s(self) -> float:
        return min(self._outage_s, HURRIED_S) if self._hurried else self._outage_s

    def _tell(self, error: LedgerUnavailable) -> None:
        if self._has_told or self._away_s() < TOLD_AFTER_S:
            return
        self._has_told = True
        most = show_duration(self._outage_s)
        self.say(f"Waiting for the ledger, {most} at most; nothing is lost. {error.message}")

    def _tell_end(self) -> None:
        if self._has_told:
            self.say(f"The ledger answers again, after {self._away_s():.0f} s.")
        self._away_since_ms, self._has_told = None, False

    def _rest(self, seconds: float) -> None:
        """Ends early when told to hurry."""
        was_hurried = self._hurried
        for _ in range(round(seconds / REST_S)):
            if self._hurried != was_hurried:
                return
            pause_thread(REST_S)
