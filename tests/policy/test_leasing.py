"""Renewing, letting go and sharing (PAU-15, FRO-12, E3)."""

from __future__ import annotations

import pytest

from holdfast.policy.leasing import deadline, may_use, share


def test_a_worker_lets_go_before_the_store_does() -> None:
    assert deadline(asked_ms=1_000, life_ms=30_000) == 28_000
    assert may_use(now_ms=27_999, asked_ms=1_000, life_ms=30_000)
    assert not may_use(now_ms=28_000, asked_ms=1_000, life_ms=30_000)


@pytest.mark.parametrize(("workers", "chunks"), [(0, 16), (1, 16), (2, 8), (3, 6), (15, 2), (16, 1), (40, 1)])
def test_a_share_is_a_ceiling_so_that_no_chunk_is_left_over(workers: int, chunks: int) -> None:
    """FRO-12: ceil(16 / live workers)."""
    assert share(workers) == chunks
    assert share(workers) * max(workers, 1) >= 16
