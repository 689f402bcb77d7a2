"""The fault dial of a world with faults of its own: named faults, each with a share of the asks that it spoils.

An ask is numbered within what it is about, so that the same seed hurts the same documents in the same way whatever
order a crawler takes. A fault heals: `rough` spoils the first ask of a thing at most, so that a careful run ends
as in `calm`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from holdfast.demo.faults import chance

ROUGH_SHARE = 0.03
STORM_SHARE = 0.2
_NEVER: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Dial:
    """`calm` by default: no share at all. An outage is 503 for the last `outage_length` of every `outage_every`
    asks.
    """

    name: str = "calm"
    shares: Mapping[str, float] = field(default_factory=lambda: _NEVER)
    heals_after: int = 1  # asks of one thing that may be spoiled
    outage_every: int = 0
    outage_length: int = 0

    def fault(self, seed: int, names: Sequence[str], about: str, nth: int) -> str:
        """Which of the named faults spoils the n-th ask (from 1) about something; "" for none."""
        if nth > self.heals_after:
            return ""
        return next((name for name in names if chance(seed, name, about, nth) < self.shares.get(name, 0.0)), "")

    def is_out(self, nth_of_all: int) -> bool:
        every = self.outage_every
        return bool(every) and nth_of_all % every >= every - self.outage_length


CALM = Dial()


def read_dial(order: Mapping[str, Any], names: Sequence[str]) -> Dial:
    """`{"dial": "rough", "html_for_pdf": 1.0, "heals_after": 2}`: a dial with shares of single faults set beside it."""
    known = {"dial", "heals_after", "outage_every", "outage_length", *names}
    for name, value in order.items():
        if name not in known:
            raise ValueError(f"unknown fault {name!r}; allowed: {', '.join(sorted(known))}")
        if name in names and (type(value) not in (int, float) or not 0 <= value <= 1):
            raise ValueError(f"fault {name!r} must be a share from 0 to 1, not {value!r}")
        if name in known.difference(names, {"dial"}) and (type(value) is not int or value < 0):
            raise ValueError(f"{name!r} must be a number from 0, not {value!r}")
    dial = order.get("dial", "calm")
    everywhere = {"calm": 0.0, "rough": ROUGH_SHARE, "storm": STORM_SHARE}.get(dial)
    if everywhere is None:
        raise ValueError(f"unknown dial {dial!r}; allowed: calm, rough, storm")
    shares = {name: float(order.get(name, everywhere)) for name in names}
    every, length = (400, 20) if dial == "storm" else (0, 0)
    return Dial(
        dial,
        MappingProxyType(shares),
        heals_after=order.get("heals_after", 2 if dial == "storm" else 1),
        outage_every=order.get("outage_every", every),
        outage_length=order.get("outage_length", length),
    )
