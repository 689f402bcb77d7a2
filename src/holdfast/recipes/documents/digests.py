"""Which keys of a list have come already: digests of eight bytes, in tables that hold nothing else.

A Python set takes about 78 bytes for each, these tables 12 to 24. There are many of them, so that the copy which is
made when one grows is small.
"""

from __future__ import annotations

from array import array

HASHES = 1 << 64  # how many digests there may be
_TABLES = 256
_SLOTS = 8  # of a table at first; always a power of two
_FREE = 0


class Digests:
    """A set of numbers below 2**64 that only grows."""

    __slots__ = ("_counts", "_tables")

    def __init__(self) -> None:
        self._tables = [_empty(_SLOTS) for _ in range(_TABLES)]
        self._counts = [0] * _TABLES

    def add(self, digest: int) -> bool:
        """Whether it was not there before."""
        digest = digest or 1  # 0 is a free slot
        number = digest % _TABLES
        table = self._tables[number]
        at = _slot(table, digest)
        if table[at] == digest:
            return False
        table[at] = digest
        self._counts[number] += 1
        if 3 * self._counts[number] > 2 * len(table):
            self._tables[number] = _grown(table)
        return True

    def __len__(self) -> int:
        return sum(self._counts)

    def __contains__(self, digest: int) -> bool:
        digest = digest or 1
        table = self._tables[digest % _TABLES]
        return table[_slot(table, digest)] == digest


def _empty(slots: int) -> array[int]:
    return array("Q", bytes(8 * slots))


def _slot(table: array[int], digest: int) -> int:
    """Where it is, or the free slot that it would have."""
    last = len(table) - 1
    at = digest // _TABLES & last
    while table[at] not in (_FREE, digest):
        at = at + 1 & last
    return at


def _grown(table: array[int]) -> array[int]:
    larger = _empty(2 * len(table))
    for digest in table:
        if digest != _FREE:
            larger[_slot(larger, digest)] = digest
    return larger
