"""From laps to rows: medians over the rounds, and ratios against the yardstick within each round. Pure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bench.contestants.crawl import Contestant
from bench.contestants.table import YARDSTICK
from bench.rounds import Lap

Number = Callable[[Lap], float]


def rate(lap: Lap) -> float:
    """Pages per second from exec to exit."""
    return lap.pages / lap.whole.wall_s


def cpu_per_1000(lap: Lap) -> float:
    """CPU seconds per 1000 pages, with the start-up."""
    return lap.whole.cpu_s / lap.pages * 1000


def cpu_per_1000_apart(lap: Lap) -> float:
    """The same without what the crawl of one page costs."""
    return (lap.whole.cpu_s - lap.startup.cpu_s) / (lap.pages - 1) * 1000


def busy_share(lap: Lap) -> float:
    """How much of all cores the crawler and its server kept busy."""
    return (lap.whole.cpu_s + lap.nginx_cpu_s) / ((os.cpu_count() or 1) * lap.whole.wall_s)


def rows(contestants: Sequence[Contestant], laps: Sequence[Lap]) -> list[dict[str, Any]]:
    return [row(contestant, laps) for contestant in contestants]


def row(contestant: Contestant, laps: Sequence[Lap]) -> dict[str, Any]:
    mine = [lap for lap in laps if lap.contestant == contestant.name]
    rates = [rate(lap) for lap in mine]
    cpus = [cpu_per_1000(lap) for lap in mine]
    return {
        "contestant": contestant.name,
        "title": contestant.title,
        "durable": contestant.durable,
        "rounds": len(mine),
        "pages_per_s": median(rates),
        "pages_per_s_range": [min(rates), max(rates)],
        "cpu_per_1000": median(cpus),
        "cpu_per_1000_range": [min(cpus), max(cpus)],
        "cpu_per_1000_apart": median(map(cpu_per_1000_apart, mine)),
        "startup_cpu_s": median(lap.startup.cpu_s for lap in mine),
        "startup_wall_s": median(lap.startup.wall_s for lap in mine),
        "peak_mb": median(lap.whole.peak_mb for lap in mine),
        "nginx_cpu_per_1000": median(lap.nginx_cpu_s / lap.pages * 1000 for lap in mine),
        "busy_share": median(map(busy_share, mine)),
        "others_share_max": max(lap.whole.others_share for lap in mine),
        "against": against(mine, laps, YARDSTICK),
        "against_holdfast": against(mine, laps, "holdfast"),
        **facts([lap.facts for lap in mine]),
    }


def against(mine: Sequence[Lap], laps: Sequence[Lap], yardstick: str) -> dict[str, float] | None:
    """Ratios round by round, then their median: what slows a whole round down slows both sides."""
    other = {lap.round: lap for lap in laps if lap.contestant == yardstick}
    pairs = [(lap, other[lap.round]) for lap in mine if lap.round in other]
    if not pairs:
        return None

    def ratio(number: Number) -> float:
        return median(number(lap) / number(theirs) for lap, theirs in pairs)

    return {
        "pages_per_s": ratio(rate),
        "cpu_per_1000": ratio(cpu_per_1000),
        "cpu_per_1000_apart": ratio(cpu_per_1000_apart),
    }


def facts(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Facts of all rounds as one: medians of numbers, but the largest of what is called `_max`; counts are summed."""
    names = [name for name in found[0] if all(name in one for one in found)] if found else []
    return {name: _merged(name, [one[name] for one in found]) for name in names}


def _merged(name: str, values: list[Any]) -> Any:
    if isinstance(values[0], dict):
        return facts(values)
    if name.endswith("max"):
        return max(values)
    return sum(values) if name in ("polls", "unbalanced", "readings") else median(values)
