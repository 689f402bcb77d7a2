"""How durations are spread, in flat memory: counts per range of sizes, and quantiles read from them. No clock, no I/O.

Ranges grow by a tenth, so a quantile is right within a tenth; the number, the sum and the maximum are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

STEP = math.log(1.1)


@dataclass(slots=True)
class Spread:
    """Durations in nanoseconds, added one by one or from another spread."""

    ranges: Counter[int] = field(default_factory=Counter)
    sum_ns: int = 0
    max_ns: int = 0

    def add(self, ns: int) -> None:
        self.ranges[math.ceil(math.log(max(ns, 1)) / STEP)] += 1
        self.sum_ns += ns
        self.max_ns = max(self.max_ns, ns)

    def join(self, other: Spread) -> None:
        self.ranges.update(other.ranges)
        self.sum_ns += other.sum_ns
        self.max_ns = max(self.max_ns, other.max_ns)

    @property
    def count(self) -> int:
        return sum(self.ranges.values())

    def quantile_ns(self, share: float) -> int:
        """The upper end of the range in which this share of all durations is reached; 0 of nothing."""
        wanted, seen = math.ceil(self.count * share), 0
        for place in sorted(self.ranges):
            seen += self.ranges[place]
            if seen >= wanted:
                return min(self.max_ns, math.floor(math.exp(place * STEP)))
        return 0

    def in_ms(self) -> dict[str, float]:
        """`{p50, p95, max, sum, count}` in milliseconds."""
        shown = {"p50": self.quantile_ns(0.5), "p95": self.quantile_ns(0.95), "max": self.max_ns, "sum": self.sum_ns}
        return {name: round(ns / 1e6, 3) for name, ns in shown.items()} | {"count": self.count}
