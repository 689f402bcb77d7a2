"""Starts of one command, one after another, and what a witness outside can say of them. Pure; reads no ledger itself.

A *stretch* is one start up to its end: by itself, or by kill -9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.audit.witness import Ask, Death, doubled, fetched_after_settled
from holdfast.demo.sighting import Sighting


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What the world was asked for between a start and its end. `left` is the ledger as the killed process left it,
    None where it ended by itself or died before its job was accepted."""

    pid: int
    began_ns: int
    ended_ns: int
    asks: tuple[Ask, ...]
    code: int
    left: Sighting | None = None

    @property
    def urls(self) -> frozenset[str]:
        return frozenset(ask["key"] for ask in self.asks)

    @property
    def held(self) -> frozenset[str]:
        """In progress at the death, by the ledger's word."""
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
    deaths = [Death(each.ended_ns, each.left.settled, each.left.held) for each in stretches if each.left]
    asks = [ask for stretch in stretches for ask in stretch.asks]
    return sorted({ask["key"] for ask in fetched_after_settled(asks, deaths)})


def restarts_s(stretches: Sequence[Stretch]) -> list[float]:
    """Seconds from exec to the first request, for every start after a death."""
    waits = [stretch.first_ask_s for stretch in stretches[1:]]
    return [seconds for seconds in waits if seconds is not None]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed; 0.0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)] if ordered else 0.0
