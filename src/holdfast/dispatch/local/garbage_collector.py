"""The garbage collector of a process that does nothing but work jobs. A program that uses Holdfast keeps its own."""

from __future__ import annotations

import gc
from functools import cache

ALLOCATIONS = 20_000  # a page makes hundreds of objects and hardly a cycle


@cache
def rest() -> None:
    """Once in a process: what was loaded to get here stays, and need not be looked at again and again."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS)
