"""The orders in which targets are listed: as their kind places them by name, or by one of their fields.

Cases are planned by number, and stored batch by batch in the order of their keys. Every row stands within one batch of
its place, so that a window of that size puts all of them in order. Any other order needs all rows, and so a place to
put them (blobs/spill.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, Protocol, TypeVar

import msgspec

from holdfast.engine.planner import BATCH_MAX
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean
from holdfast.model.target import TargetRow
from holdfast.recipe.kind import Kind

R = TypeVar("R")


SORTS = ("url", "status", "disposition", "code", "host", "depth", "attempts", "found_at", "settled_at")


class NamedRow(Protocol):
    """A row of a target that may have a name."""

    @property
    def name(self) -> str | None: ...


N = TypeVar("N", bound=NamedRow)


def as_planned(rows: Iterator[N], kind: Kind) -> Iterator[N]:
    """The rows in the order in which their kind lists targets."""
    return rows if kind.place is None else in_place(rows, lambda row: row.name, kind.place)


def in_place(
    rows: Iterable[R], name_of: Callable[[R], str | None], place: Callable[[str], tuple[Any, ...]]
) -> Iterator[R]:
    """The same rows by their places; memory does not grow with their number."""
    window: list[tuple[tuple[Any, ...], int, R]] = []
    for n, row in enumerate(rows):
        heappush(window, (place(name_of(row) or ""), n, row))
        if len(window) > BATCH_MAX:
            yield heappop(window)[2]
    while window:
        yield heappop(window)[2]


class Sort(msgspec.Struct, frozen=True):
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
