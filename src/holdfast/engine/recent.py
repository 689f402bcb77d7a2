"""A bounded, exact memory of keys that are certainly stored, so that links every page repeats cost no look-up.

It learns a key only after the commit that stored it, and forgets everything when a lease changes: a key that is
remembered but not stored would be a lost link. Targets and external links are remembered apart, since one URL can be
external seen from one page and in scope seen from another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from holdfast.model.target import External, Found

Keyed = TypeVar("Keyed", Found, External)
KEYS_MAX = 100_000


class RecentKeys:
    """Two generations of half the size: the older one is dropped whole."""

    def __init__(self, keys_max: int = KEYS_MAX) -> None:
        self._half = max(1, keys_max // 2)
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()

    def __contains__(self, key: bytes) -> bool:
        return key in self._young or key in self._old

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def sift(self, items: Iterable[Keyed]) -> tuple[Keyed, ...]:
        """Those whose key is not remembered."""
        young, old = self._young, self._old
        return tuple([item for item in items if item.key not in young and item.key not in old])

    def learn(self, keys: Iterable[bytes]) -> None:
        """Only keys whose commit was acked."""
        for key in keys:
            if len(self._young) >= self._half:
                self._young, self._old = set(), self._young
            self._young.add(key)

    def forget(self) -> None:
        self._young.clear()
        self._old.clear()
