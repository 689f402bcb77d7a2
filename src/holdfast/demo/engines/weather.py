"""The fault dial of this world: what goes wrong beside what is wrong with the images themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import fields, replace

from holdfast.demo.faults import chance

Trouble = Literal["unavailable", "slow", "cut", "throttled", "nonsense"]
TROUBLES: tuple[Trouble, ...] = ("unavailable", "slow", "cut", "throttled", "nonsense")


class Weather(msgspec.Struct, frozen=True):
    """All off is `calm`. `share` is that of each trouble, on the first `asks_max` asks of a URL only: so a crawler that
    tries three times ends with the same data in `rough` weather as in calm.
    """

    share: float = 0.0
    asks_max: int = 2
    slow_ms: int = 1_000
    retry_after_s: int | None = None  # None: 3 to 20 s, by the seed
    outage_every: int = 0  # asks of one host; the next `outage_length` of them get 503
    outage_length: int = 10
    drift: bool = False
    newer: bool = False  # google and bing answer in their newer shape
    token_uses: int = 5  # pages that one `vqd` is good for
    blocking: int = 0  # so many engines, in their order, answer with a captcha
    forbidding: int = 0  # so many of them answer with 403


CALM = Weather()
DIALS = {
    "calm": CALM,
    "rough": Weather(share=0.03),
    "storm": Weather(share=0.2, asks_max=3, outage_every=100, drift=True),
}


def trouble_for(weather: Weather, seed: int, where: str, nth_ask: int) -> Trouble | None:
    """What happens to the n-th ask (from 1) of a URL; None where it is answered as in calm weather."""
    if not weather.share or nth_ask > weather.asks_max:
        return None
    drawn = int(chance(seed, "weather", where, nth_ask) / weather.share)
    if drawn >= len(TROUBLES) or (TROUBLES[drawn] == "nonsense" and nth_ask > 1):
        return None  # an answer that cannot be read is asked for once more only, so it comes once
    return TROUBLES[drawn]


def set_dial(order: Mapping[str, Any]) -> Weather:
    """`{"dial": "rough"}` with any field of Weather beside it; ValueError names what is allowed instead."""
    dial = order.get("dial", "calm")
    if dial not in DIALS:
        raise ValueError(f"unknown dial {dial!r}; allowed: {', '.join(DIALS)}")
    known = {field.name for field in fields(Weather)}
    changes = {name: value for name, value in order.items() if name != "dial"}
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"unknown fault {name!r}; allowed: {', '.join(sorted(known))}")
        if not isinstance(value, (int, float)):
            raise ValueError(f"fault {name!r} must be a number or true or false, not {value!r}")
    return replace(DIALS[dial], **changes)
