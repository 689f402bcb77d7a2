"""How durations are spread: quantiles within a tenth, the rest exact, in flat memory."""

from __future__ import annotations

import pytest

from holdfast.model.spread import Spread


def spread_of(*ns: int) -> Spread:
    spread = Spread()
    for each in ns:
        spread.add(each)
    return spread


def test_quantiles_are_right_within_a_tenth() -> None:
    spread = spread_of(*range(1_000, 101_000, 1_000))
    assert spread.quantile_ns(0.5) == pytest.approx(50_000, rel=0.1)
    assert spread.quantile_ns(0.95) == pytest.approx(95_000, rel=0.1)
    assert (spread.count, spread.sum_ns, spread.max_ns) == (100, 5_050_000, 100_000)


def test_two_spreads_join_as_if_everything_had_been_added_to_one() -> None:
    one, other = spread_of(5, 50, 500), spread_of(7, 70_000)
    one.join(other)
    assert one == spread_of(5, 50, 500, 7, 70_000)


def test_nothing_is_zero_and_a_zero_counts() -> None:
    assert Spread().in_ms() == {"p50": 0.0, "p95": 0.0, "max": 0.0, "sum": 0.0, "count": 0}
    assert spread_of(0).count == 1


def test_memory_is_flat() -> None:
    spread = spread_of(*range(0, 10_000_000, 97))
    assert len(spread.ranges) < 200
