"""What work costs the processor, where others use the same cores."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 3


def cpu_s(work: Callable[[], object], enough: float, *, clock: Callable[[], float] = time.process_time) -> float:
    """The best of three, or the first that is good enough: a core that others use, too, is slower at times."""
    best = float("inf")
    for _ in range(TRIES):
        began = clock()
        work()
        best = min(best, clock() - began)
        if best < enough:
            break
    return best


def wall_s(work: Callable[[], object], enough: float) -> float:
    """The same by the clock on the wall: for work that another process has a part in."""
    return cpu_s(work, enough, clock=time.perf_counter)
