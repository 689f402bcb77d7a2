"""Targets in the order of one of their fields, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.model.target import TargetRow
from holdfast.ports import Storage
from holdfast.views.ordering import Sort

TARGETS_IN_MEMORY = 20_000


def sorted_targets(
    storage: Storage, rows: Iterable[TargetRow], sort: Sort, *, rows_per_run: int = TARGETS_IN_MEMORY
) -> Iterator[TargetRow]:
    """More than a few of them are put into unnamed files meanwhile."""
    return storage.in_order(rows, kind=TargetRow, key=sort.key, reverse=sort.falling, rows_per_run=rows_per_run)
