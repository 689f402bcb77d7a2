"""Cases come in the order of their numbers, however they are stored, and memory does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from holdfast.engine.planner import BATCH_MAX
from holdfast.recipes.cases.ids import place_of
from holdfast.views.ordering import in_place


def test_numbers_that_are_shuffled_within_their_batches_come_in_order() -> None:
    planned = [f"IMM-{n}-{year}" for year in (24, 25) for n in range(1, 1600)]
    stored: list[str] = []
    for start in range(0, len(planned), BATCH_MAX):
        batch = planned[start : start + BATCH_MAX]
        Random(start).shuffle(batch)
        stored += batch
    assert stored != planned
    assert list(in_place(stored, lambda name: name, place_of)) == planned


def test_the_first_comes_before_the_last_is_read() -> None:
    read: list[int] = []

    def endless() -> Iterator[str]:
        for n in count(1):
            read.append(n)
            yield f"IMM-{n}-25"

    assert next(in_place(endless(), str, place_of)) == "IMM-1-25"
    assert len(read) == BATCH_MAX + 1
