"""Time, handed in. Wall time is stored and shown; monotonic time is subtracted and decides leases.

Nobody else calls the `time` module, so that a test can move time by hand.
"""

from __future__ import annotations

import asyncio
import random
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Milliseconds; `monotonic_ms` is comparable between processes of one boot, never across boots."""

    def wall_ms(self) -> int: ...

    def monotonic_ms(self) -> int: ...

    async def wait(self, seconds: float) -> None: ...


class SystemClock:
    """The computer's own clocks."""

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that moves only when told to. Waiting moves it."""

    def __init__(self, wall_ms: int = 1_900_000_000_000, monotonic_ms: int = 1_000_000) -> None:
        self._wall_ms, self._monotonic_ms = wall_ms, monotonic_ms

    def wall_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, seconds: float) -> None:
        self._wall_ms += round(seconds * 1000)
        self._monotonic_ms += round(seconds * 1000)

    def set_wall(self, wall_ms: int) -> None:
        """Somebody set the computer's clock: wall time jumps, monotonic time does not."""
        self._wall_ms = wall_ms

    async def wait(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


def now_ns() -> int:
    """Monotonic nanoseconds, to measure what takes less than a millisecond."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def pause_thread(seconds: float) -> None:
    """Block this thread: for retry loops of the ledger thread, never on the event loop."""
    time.sleep(seconds)


def iso(wall_ms: int | None) -> str | None:
    """RFC 3339 in UTC, as every surface prints it."""
    if wall_ms is None:
        return None
    moment = datetime.fromtimestamp(wall_ms / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds" if wall_ms % 1000 else "seconds").replace("+00:00", "Z")


def jittered(value: float, share: float, source: random.Random) -> float:
    """`value` moved by up to ± `share` of itself."""
    return value * (1.0 + share * (2.0 * source.random() - 1.0))
