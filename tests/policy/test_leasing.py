"""Renewing, letting go and sharing (PAU-15, FRO-12, E3)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.model.job import Options
from holdfast.policy.leasing import deadline, in_hand_max, may_use, options_of, share


def test_a_worker_lets_go_before_the_store_does() -> None:
    assert deadline(asked_ms=1_000, life_ms=30_000) == 28_000
    assert may_use(now_ms=27_999, asked_ms=1_000, life_ms=30_000)
    assert not may_use(now_ms=28_000, asked_ms=1_000, life_ms=30_000)


@pytest.mark.parametrize(("workers", "chunks"), [(0, 16), (1, 16), (2, 8), (3, 6), (15, 2), (16, 1), (40, 1)])
def test_a_share_is_a_ceiling_so_that_no_chunk_is_left_over(workers: int, chunks: int) -> None:
    """FRO-12: ceil(16 / live workers)."""
    assert share(workers) == chunks
    assert share(workers) * max(workers, 1) >= 16


@pytest.mark.parametrize("whole", [1, 2, 8, 16, 17])
@pytest.mark.parametrize("workers", [1, 2, 3, 5, 7, 16])
def test_shares_are_the_whole_and_differ_by_one_at_most(workers: int, whole: int) -> None:
    """With the ceiling for everybody, the last of five workers would find no chunk left."""
    shares = [share(workers, whole, place=place) for place in range(workers)]
    assert sum(shares) == whole
    assert max(shares) - min(shares) <= 1


def test_concurrency_is_shared_and_each_worker_has_one_at_least() -> None:
    options = Options(concurrency=8, per_host=3)
    assert [options_of(options, workers=3, place=place).concurrency for place in range(3)] == [3, 3, 2]
    assert options_of(replace(options, concurrency=1), workers=3, place=2).concurrency == 1
    assert options_of(options, workers=1, place=0) == options


@pytest.mark.parametrize(
    ("workers", "one_host", "delay_ms", "most"),
    [(1, True, 0, 8), (1, True, 500, 8), (2, False, 500, 8), (2, True, 0, 8), (2, True, 500, 4), (4, True, 0, 4)],
)
def test_where_several_share_a_host_nobody_claims_what_it_cannot_begin(
    workers: int, one_host: bool, delay_ms: int, most: int
) -> None:
    """A claim that waits in a queue keeps a slot of the host from the others."""
    options = Options(concurrency=4, per_host=16, delay_ms=delay_ms)
    assert in_hand_max(options, workers=workers, place=0, one_host=one_host) == most


@pytest.mark.parametrize(
    ("concurrency", "workers", "delay_ms", "most"),
    [(4, 1, 0, 32), (8, 1, 0, 64), (16, 1, 0, 64), (64, 1, 0, 128), (4, 1, 500, 8), (4, 2, 0, 8), (4, 2, 500, 4)],
)
def test_a_kind_that_claims_further_ahead_does_so_up_to_a_bound_and_never_where_a_delay_is_kept(
    concurrency: int, workers: int, delay_ms: int, most: int
) -> None:
    """What a kill leaves suspect is tried one by one; a claim with a delay is a turn at its host."""
    options = Options(concurrency=concurrency, per_host=16, delay_ms=delay_ms)
    assert in_hand_max(options, workers=workers, place=0, one_host=True, ahead=8) == most
