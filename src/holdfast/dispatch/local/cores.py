"""Which core a worker process keeps to. The thread that fetches and the one that commits pass the interpreter to each
other thousands of times a second: on one core that is cheap, from core to core it is not.
"""

from __future__ import annotations

import os
from contextlib import suppress


def core_of(place: int, workers: int, cores: set[int]) -> int | None:
    """The worker's own core where there are as many workers as cores. Of fewer or more, the system knows better."""
    return sorted(cores)[place] if workers > 1 and workers == len(cores) else None


def keep_to_own(place: int, workers: int) -> None:
    """Before the process has threads, which inherit it. Where a system has no such call, nothing is done."""
    if not hasattr(os, "sched_setaffinity"):
        return
    core = core_of(place, workers, os.sched_getaffinity(0))
    if core is not None:
        with suppress(OSError):  # forbidden here: it only makes things faster
            os.sched_setaffinity(0, {core})
