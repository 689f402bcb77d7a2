"""Says when a job must end: its active time is used up, or nothing has moved for too long. Its owner asks it.

Kept by the holder of the job's control chunk, which counts its time. Uses monotonic time, so clock changes have no
effect.
"""

from __future__ import annotations

import threading

from holdfast.clock import Clock
from holdfast.model.job import Job
from holdfast.policy.limits import time_left_ms

LIMITED_STEP_S = 0.25  # how often it is asked where every second counts
STEP_S_MAX = 5.0
SLEPT_MS = 1_000


class Timekeeper:
    """`asked_ms`: the monotonic moment from which on this process counts the job's active time."""

    def __init__(self, clock: Clock, job: Job, *, asked_ms: int, stale_after_s: float) -> None:
        self._clock, self._moved_ms, self._stale_ms = clock, asked_ms, round(stale_after_s * 1000)
        self._asked_ms = self._awake_ms = asked_ms
        self._lock = threading.Lock()  # two threads may notice the same sleep; it is counted once
        left_ms = time_left_ms(job.options, job.active_ms)
        self._ends_ms = None if left_ms is None else asked_ms + left_ms
        self.step_s = min(STEP_S_MAX, stale_after_s / 4) if left_ms is None else LIMITED_STEP_S
        self._nap_ms = min(4 * self.step_s * 1000 + SLEPT_MS, self._stale_ms / 2)

    def moved(self) -> None:
        """A target came to an end, or to its next try; or nothing is in hand, and the next try has its time."""
        self._moved_ms = self._clock.monotonic_ms()

    def called(self) -> str | None:
        """`time_out`, `stale`, or None while there is time. Call it every `step_s` or more often: time without
        a call does not count as a standstill (a stopped process, a lost database, a step that blocked the loop)."""
        self.awake()
        now = self._clock.monotonic_ms()
        unasked_ms, self._asked_ms = now - self._asked_ms, now
        if unasked_ms > self._nap_ms:
            self._moved_ms += unasked_ms
        if self._ends_ms is not None and now >= self._ends_ms:
            return "time_out"
        return "stale" if now - self._moved_ms >= self._stale_ms else None

    def awake(self) -> None:
        """Any thread calls this to show that the process runs. Without calls it was asleep, which costs no active time.

        A step that computes for seconds blocks `called`, and is work: the heartbeat's thread calls this meanwhile.
        """
        with self._lock:
            now = self._clock.monotonic_ms()
            slept_ms, self._awake_ms = now - self._awake_ms, now
            if slept_ms > self._nap_ms and self._ends_ms is not None:
                self._ends_ms += slept_ms

    def wait_s(self) -> float:
        """How long not to ask again."""
        if self._ends_ms is None:
            return self.step_s
        return max(0.001, min(self.step_s, (self._ends_ms - self._clock.monotonic_ms()) / 1000))


def stale_because(after_s: float) -> str:
    return f"stale: nothing moved for {after_s:g} s while it was worked"
