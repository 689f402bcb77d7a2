"""The fault dial: which asks a world answers badly. Pure: seed, path and ask number in, one fault or none out.

An ask is numbered within its path, not over the whole world, so that the same seed hurts the same pages in the same
way whatever order a crawler takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any, Literal

Fault = Literal["unavailable", "slow", "cut"]


@dataclass(frozen=True, slots=True)
class Faults:
    """All off by default, which is `calm`. Shares are 0 to 1; `under` limits every fault to paths that begin so."""

    unavailable_first: int = 0  # the first n asks of each path get 503
    slow_share: float = 0.0
    slow_ms: int = 1_000  # wait before the first byte
    cut_share: float = 0.0  # half the body, then the connection closes
    under: str = "/"


CALM = Faults()
DIALS: Mapping[str, Faults] = {"calm": CALM}


def fault_for(faults: Faults, seed: int, path: str, nth_ask: int) -> Fault | None:
    """The fault of the n-th ask (from 1) of `path`; None when it is answered as in calm weather."""
    if faults == CALM or not path.startswith(faults.under):
        return None
    if nth_ask <= faults.unavailable_first:
        return "unavailable"
    if chance(seed, "cut", path, nth_ask) < faults.cut_share:
        return "cut"
    if chance(seed, "slow", path, nth_ask) < faults.slow_share:
        return "slow"
    return None


def set_dial(order: Mapping[str, Any]) -> Faults:
    """`{"dial": "calm"}` with any field of Faults beside it; ValueError names what is allowed instead."""
    known = {field.name: type(field.default) for field in fields(Faults)}
    changes = {name: value for name, value in order.items() if name != "dial"}
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"unknown fault {name!r}; allowed: {', '.join(known)}")
        if type(value) not in ({int, float} if known[name] is float else {known[name]}):
            raise ValueError(f"fault {name!r} must be {known[name].__name__}, not {value!r}")
    dial = order.get("dial", "calm")
    if dial not in DIALS:
        raise ValueError(f"unknown dial {dial!r}; allowed: {', '.join(DIALS)}")
    return replace(DIALS[dial], **changes)


def chance(seed: int, *about: object) -> float:
    """A number in [0, 1) that depends on nothing but the seed and what it is about."""
    digest = blake2b(repr((seed, *about)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
