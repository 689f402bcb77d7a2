"""Starts of one command, one after another, and what a witness outside can say of them. Pure; reads no ledger itself.

A *stretch* is one start up to its end: by itself, or by kill -9. Where several processes work, it is the time up to the
next kill, which may take one of them while the others go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from holdfast.audit.witness import Ask, Death, doubled, fetched_after_settled
from holdfast.demo.sighting import Fallen, Sighting


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """What the world was asked for between a start and its end. `left` is the ledger as the killed process left it,
    None where it ended by itself or died before its job was accepted.

    `fallen` is the one that died where others went on; `is_start`: it began with a start and not with such a death.
    """

    pid: int
    began_ns: int
    ended_ns: int
    asks: tuple[Ask, ...]
    code: int
    left: Sighting | None = None
    killed_ns: int = 0
    dead_ns: int = 0  # from when on nothing more of the dead one can come into the log
    fallen: Fallen | None = None
    is_start: bool = True

    @property
    def urls(self) -> frozenset[str]:
        return frozenset(ask["key"] for ask in self.asks)

    @property
    def held(self) -> frozenset[str]:
        """In progress in the dead process, as the ledger says."""
        if self.fallen is not None:
            return self.fallen.held
        return self.left.held if self.left else frozenset()

    @property
    def first_ask_s(self) -> float | None:
        """From exec to the first request in the world's log."""
        return (self.asks[0]["at_ns"] - self.began_ns) / 1e9 if self.asks else None


def asked_again(stretches: Sequence[Stretch]) -> list[frozenset[str]]:
    """For each stretch, the pages it asked for that a later one asked for once more: the price of its death.

    Not only the next one: a suspect waits its turn, and another death may come before it.
    """
    later: frozenset[str] = frozenset()
    price: list[frozenset[str]] = []
    for stretch in reversed(stretches):
        price.append(stretch.urls & later)
        later |= stretch.urls
    return price[::-1]


def asked_without_cause(stretches: Sequence[Stretch]) -> list[str]:
    """Asked again although not in progress when their stretch died, or twice within one stretch (L3)."""
    strangers = [again - stretch.held for stretch, again in zip(stretches, asked_again(stretches), strict=True)]
    twice = [doubled(ask["key"] for ask in stretch.asks) for stretch in stretches]
    return sorted({url for group in (*strangers, *twice) for url in group})


def asked_when_settled(stretches: Sequence[Stretch]) -> list[str]:
    """Asked for although the ledger already had them as settled at an earlier death (L3)."""
    deaths = [Death(each.ended_ns, each.left.settled) for each in stretches if each.left]
    asks = [ask for stretch in stretches for ask in stretch.asks]
    return sorted({ask["key"] for ask in fetched_after_settled(asks, deaths)})


def restarts_s(stretches: Sequence[Stretch]) -> list[float]:
    """Seconds from exec to the first request, for every start after a death."""
    waits = [stretch.first_ask_s for stretch in stretches[1:] if stretch.is_start]
    return [seconds for seconds in waits if seconds is not None]


def prices(stretches: Sequence[Stretch]) -> tuple[list[frozenset[str]], list[str]]:
    """Where some went on when others died: per death the pages that were asked for once more because of it, and those
    asked for once more without a death in between that had them in hand (L3)."""
    asked: dict[str, list[int]] = defaultdict(list)
    for stretch in stretches:
        for ask in stretch.asks:
            asked[ask["key"]].append(ask["at_ns"])
    paid: list[set[str]] = [set() for _ in stretches]
    strange = []
    for url, times in asked.items():
        for first, again in pairwise(sorted(times)):
            cause = _cause(stretches, url, first, again)
            if cause is None:
                strange.append(url)
            else:
                paid[cause].add(url)
    return [frozenset(urls) for urls in paid], sorted(set(strange))


def _cause(stretches: Sequence[Stretch], url: str, first_ns: int, again_ns: int) -> int | None:
    """A death has a beginning and an end: what the dead one had sent may be logged a little after the kill."""
    for n, each in enumerate(stretches):
        if each.killed_ns and url in each.held and first_ns <= each.ended_ns and again_ns >= each.killed_ns:
            return n
    return None


def takeovers_s(stretches: Sequence[Stretch], chunk_of: Mapping[str, int]) -> list[float]:
    """Seconds from the death of one worker to the first request for a page of its chunks, which only the worker that
    has taken them over may send. None is counted where the next kill came before it."""
    waits = []
    for each, after in pairwise(stretches):
        if each.fallen is not None:
            chunks = each.fallen.chunks
            theirs = [ask["at_ns"] for ask in after.asks if chunk_of.get(ask["key"]) in chunks]
            waits += [(at_ns - each.killed_ns) / 1e9 for at_ns in theirs if at_ns > each.dead_ns][:1]
    return waits


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed; 0.0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)] if ordered else 0.0
