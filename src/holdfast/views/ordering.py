"""The orders in which targets are listed: cases by their numbers, and whatever is listed by one of its fields.

Cases are planned by number, and stored batch by batch in the order of their keys. Every row stands within one batch of
its place, so that a window of that size puts all of them in order. Any other order needs all rows, and so a place to
put them (blobs/spill.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeVar

from holdfast.engine.planner import BATCH_MAX
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean
from holdfast.model.target import TargetRow

R = TypeVar("R")


SORTS = ("url", "status", "disposition", "code", "host", "depth", "attempts", "found_at", "settled_at")


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


@dataclass(frozen=True, slots=True)
class Sort:
    """By one field of the rows; what has none stands behind all others, whichever way."""

    field: str
    falling: bool

    def key(self, row: TargetRow) -> tuple[bool, Any]:
        value = getattr(row, self.field)
        return (value is None) != self.falling, 0 if value is None else value


def parse_sort(text: str) -> Sort:
    """`depth`, or `-settled_at` from the newest on; BadParams names the fields."""
    field = text.removeprefix("-")
    if field not in SORTS:
        raise BadParams(
            f"targets cannot be sorted by {field!r}{did_you_mean(field, SORTS)}", hint=f"fields: {' '.join(SORTS)}"
        )
    return Sort(field, text.startswith("-"))


def _place(name: str) -> tuple[str, str, int]:
    """As ranges are planned: by prefix, year, number."""
    found = _CASE.fullmatch(name)
    return (name, "", 0) if found is None else (found[1], found[3], int(found[2]))
