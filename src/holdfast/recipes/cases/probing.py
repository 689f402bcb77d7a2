"""The open end of a range (CAS-08): which numbers a settled one leads to. They are found targets, so the search for the
end is in the ledger: a kill forgets nothing of it, and a number that is known is never asked twice.

Two rules. Every hit leads to the `SAFE_STOP` numbers above it: the end is proved when the highest hit is followed by as
many misses, whatever failed in between. Besides, leaps of growing size look for cases beyond a gap that is longer: a
leap that hits leads to all numbers up to it, one that misses to a leap half as far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from holdfast.recipes.cases.ids import Range

SAFE_STOP = 50
STEP_MAX = 256  # so that what one leap leads to is put in order by a window: views/ordering.py
MISS_EXPIRES_MS = 20 * 3_600_000  # so that a daily run asks again, at whatever hour it starts


class Leap(msgspec.Struct, frozen=True, array_like=True):
    """A number that is asked ahead of the others. Up to `low` all numbers are targets; `step` is how far it went."""

    low: int
    step: int


class Next(msgspec.Struct, frozen=True):
    number: int
    leap: Leap | None = None


def first_numbers(each: Range, safe_stop: int = SAFE_STOP) -> list[Next]:
    """What the plan of an open range begins with."""
    window = range(each.first, min(each.first + safe_stop, each.last + 1))
    low = window.stop - 1
    return [*map(Next, window), *_leap(low, 2 * safe_stop, each.last)]


def next_numbers(
    number: int, *, is_hit: bool, last: int, leap: Leap | None = None, safe_stop: int = SAFE_STOP
) -> Iterator[Next]:
    """What an answer leads to, in numeric order; targets that are known already are no matter."""
    if not is_hit:
        if leap is not None and leap.step // 2 >= 1:
            yield from _leap(leap.low, leap.step // 2, last)
        return
    window = min(number + safe_stop, last)
    for each in range((leap.low if leap else number) + 1, window + 1):
        if each != number:
            yield Next(each)
    if leap is not None:
        yield from _leap(window, min(2 * leap.step, STEP_MAX), last)


def read_leap(params: str) -> Leap | None:
    return msgspec.json.decode(params, type=Leap) if params else None


def params_of(leap: Leap | None) -> str:
    return "" if leap is None else msgspec.json.encode(leap).decode()


def _leap(low: int, step: int, last: int) -> list[Next]:
    number = low + step
    return [Next(number, Leap(low, step))] if number <= last else []


def expired(
    missed_at_ms: Iterable[tuple[int, int]], highest: int, now_ms: int, *, after_ms: int = MISS_EXPIRES_MS
) -> list[int]:
    """Misses, as (number, when), that a new run asks again, in numeric order: those beyond the highest hit, when old.

    A miss below the highest hit is a gap, and final.
    """
    return sorted(number for number, at_ms in missed_at_ms if number > highest and now_ms - at_ms >= after_ms)


class LongGap(msgspec.Struct, frozen=True):
    """A stretch without a case between two cases, at least `safe_stop` long: a search from below would have ended."""

    first: int
    last: int


def long_gaps(hits: Iterable[int], safe_stop: int = SAFE_STOP) -> list[LongGap]:
    """Such stretches, to be reported. `hits` come in numeric order and are read one by one."""
    return [LongGap(low + 1, high - 1) for low, high in pairwise(hits) if high - low > safe_stop]
