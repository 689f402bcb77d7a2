"""The fault dial: which asks a world answers badly. Pure: seed, path and ask number in, one fault or none out.

An ask is numbered within its path, not over the whole world, so that the same seed hurts the same pages in the same
way whatever order a crawler takes.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from msgspec.structs import fields, replace

Fault = Literal["unavailable", "limited", "slow", "cut"]


class Faults(msgspec.Struct, frozen=True):
    """All off by default, which is `calm`. Shares are 0 to 1; `under` limits every fault to paths that begin so."""

    unavailable_first: int = 0  # the first n asks of each path get 503
    unavailable_share: float = 0.0
    limited_share: float = 0.0  # 429 with Retry-After
    slow_share: float = 0.0
    slow_ms: int = 1_000  # wait before the first byte
    cut_share: float = 0.0  # half the body, then the connection closes
    shares_until: int = 1_000_000  # later asks of a path are answered as in calm weather
    outage_every: int = 0  # of so many asks of the whole world, the last `outage_length` get 503
    outage_length: int = 0
    under: str = "/"


CALM = Faults()
# Two bad answers at most, so that three tries always end in the same pages as in calm weather.
ROUGH = Faults(unavailable_share=0.04, limited_share=0.02, slow_share=0.05, slow_ms=200, cut_share=0.04, shares_until=2)
STORM = Faults(
    unavailable_share=0.2,
    limited_share=0.2,
    slow_share=0.2,
    cut_share=0.2,
    outage_every=400,
    outage_length=40,
)
DIALS: Mapping[str, Faults] = {"calm": CALM, "rough": ROUGH, "storm": STORM}


def fault_for(faults: Faults, seed: int, path: str, nth_ask: int, *, nth_of_all: int = 0) -> Fault | None:
    """The fault of the n-th ask (from 1) of `path`; None when it is answered as in calm weather."""
    if faults == CALM or not path.startswith(faults.under):
        return None
    if nth_ask <= faults.unavailable_first or _in_outage(faults, nth_of_all):
        return "unavailable"
    if nth_ask > faults.shares_until:
        return None
    if chance(seed, "unavailable", path, nth_ask) < faults.unavailable_share:
        return "unavailable"
    if chance(seed, "limited", path, nth_ask) < faults.limited_share:
        return "limited"
    if chance(seed, "cut", path, nth_ask) < faults.cut_share:
        return "cut"
    if chance(seed, "slow", path, nth_ask) < faults.slow_share:
        return "slow"
    return None


def _in_outage(faults: Faults, nth_of_all: int) -> bool:
    every = faults.outage_every
    return bool(every) and nth_of_all % every >= every - faults.outage_length


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
