"""Which images an engine names for a query, in which order.

Of a query's results 60 % are those of every query at the same engine, 35 % those of every engine; the rest is its own.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.demo.faults import chance

SAMPLE_SHARE = 0.6  # of the pool, in one query's results
SHARED_BY_VARIATIONS = 0.6
SHARED_BY_ENGINES = 0.35
DRIFT_SHARE = 0.1  # of the places, under `storm`


@lru_cache(maxsize=4096)
def ranked(seed: int, keyword: str, pool_size: int, engine: str, query: str) -> tuple[int, ...]:
    """Numbers of the pool's entries, best first, each once."""
    wanted = round(pool_size * SAMPLE_SHARE)
    sources = (
        (round(wanted * SHARED_BY_ENGINES), ("all",)),
        (round(wanted * SHARED_BY_VARIATIONS), (engine,)),
        (wanted, (engine, query)),
    )
    taken: dict[int, None] = {}
    for fill_to, about in sources:
        for number in _shuffled(seed, keyword, pool_size, "sample", *about):
            if len(taken) >= fill_to:
                break
            taken[number] = None
    return tuple(sorted(taken, key=lambda number: chance(seed, "rank", keyword, engine, query, number)))


def drifted(seed: int, numbers: tuple[int, ...], nth_ask: int) -> tuple[int, ...]:
    """The same results on another day: some neighbours have changed places."""
    moved = list(numbers)
    for place in range(len(moved) - 1):
        if chance(seed, "drift", nth_ask, place) < DRIFT_SHARE:
            moved[place], moved[place + 1] = moved[place + 1], moved[place]
    return tuple(moved)


def page_of(engine: str, numbers: tuple[int, ...], offset: int, size: int) -> tuple[int, ...]:
    """One page. Behind the last result google and bing repeat their last page; the others have an empty one."""
    if offset < len(numbers):
        return numbers[offset : offset + size]
    if engine in ("google", "bing") and numbers:
        return numbers[(len(numbers) - 1) // size * size :]
    return ()


def _shuffled(seed: int, keyword: str, size: int, *about: str) -> list[int]:
    return sorted(range(size), key=lambda number: chance(seed, keyword, number, *about))
