"""Which core a worker process keeps to. The thread that fetches and the one that commits pass the interpreter to each
other thousands of times a second: on one core that is cheap, from core to core it is not.

A program that the worker starts would inherit its core and work in turns with it: such a program may run everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_own: set[int] = set()  # the core that this process keeps to; empty: it has none of its own
_every: set[int] = set()  # those that it could run on before it had one


def core_of(place: int, workers: int, cores: set[int]) -> int | None:
    """The worker's own core where there are as many workers as cores. Of fewer or more, the system knows better."""
    return sorted(cores)[place] if workers > 1 and workers == len(cores) else None


def keep_to_own(place: int, workers: int) -> None:
    """Before the process has threads, which inherit it. Where a system has no such call, nothing is done."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = os.sched_getaffinity(0)
    core = core_of(place, workers, cores)
    if core is not None:
        with suppress(OSError):  # forbidden here: it only makes things faster
            os.sched_setaffinity(0, {core})
            _own.add(core)
            _every.update(cores)


@contextmanager
def every_core() -> Iterator[None]:
    """Around the start of another program, in the thread that starts it."""
    if not _own:
        yield
        return
    _run_on(_every)
    try:
        yield
    finally:
        _run_on(_own)


def _run_on(cores: set[int]) -> None:
    """Cores may be taken from a running process, by a change of its cpuset: then the thread stays where it is."""
    with suppress(OSError):
        os.sched_setaffinity(0, cores)
