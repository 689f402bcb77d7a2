"""When a checkpoint is due (CHK-01)."""

from __future__ import annotations

import pytest

from holdfast.model.record import CHECKPOINT_REASONS
from holdfast.policy.checkpointing import due


@pytest.mark.parametrize(
    ("settled", "ms", "last", "reason"),
    [
        (9, 119_999, None, None),
        (10, 0, None, "targets"),
        (0, 120_000, None, "interval"),
        (10, 120_000, 120_000, "targets"),
        (500, 999, 999, None),
        (500, 1_000, 1_000, "targets"),
    ],
)
def test_every_ten_targets_or_two_minutes_but_at_most_once_a_second(
    settled: int, ms: int, last: int | None, reason: str | None
) -> None:
    """CHK-01."""
    said = due(settled_since=settled, ms_since=ms, every_targets=10, every_s=120.0, ms_since_last_written=last)
    assert said == reason
    assert said is None or said in CHECKPOINT_REASONS


def test_zero_targets_means_by_time_only() -> None:
    assert due(settled_since=5, ms_since=1, every_targets=0, every_s=1.0, ms_since_last_written=None) is None
