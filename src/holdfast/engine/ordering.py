"""Cases in the order of their numbers. They are planned so, and stored batch by batch in the order of their keys.

Every row stands within one batch of its place, so that a window of that size puts all of them in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import TypeVar

from holdfast.engine.planner import BATCH_MAX

R = TypeVar("R")
CASES = "cases"
_CASE = re.compile(r"(.*)-([0-9]+)-([0-9]{2})")


def by_number(rows: Iterable[R], name_of: Callable[[R], str | None]) -> Iterator[R]:
    """The same rows; memory does not grow with their number."""
    window: list[tuple[tuple[str, str, int], int, R]] = []
    for n, row in enumerate(rows):
        heappush(window, (_place(name_of(row) or ""), n, row))
        if len(window) > BATCH_MAX:
            yield heappop(window)[2]
    while window:
        yield heappop(window)[2]


def _place(name: str) -> tuple[str, str, int]:
    """As ranges are planned: by prefix, year, number."""
    found = _CASE.fullmatch(name)
    return (name, "", 0) if found is None else (found[1], found[3], int(found[2]))
