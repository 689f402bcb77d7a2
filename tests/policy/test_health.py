"""How a drained job ends (JOB-09, SIT-10, DOC-38)."""

from __future__ import annotations

import pytest

from holdfast.errors import Corrupt
from holdfast.model.job import Counts
from holdfast.policy.health import SEEDS_LOOKED_AT, may_be_dead_end, verdict


def make_counts(succeeded: int = 0, failed: int = 0, skipped: int = 0, **others: int) -> Counts:
    known = succeeded + failed + skipped + sum(others.values())
    return Counts(discovered=known, succeeded=succeeded, failed=failed, skipped=skipped, **others)


@pytest.mark.parametrize(
    ("succeeded", "failed", "skipped", "health"),
    [
        (10, 0, 5, "ok"),
        (99, 1, 0, "partial"),
        (60, 40, 0, "partial"),
        (30, 70, 0, "partial"),
        (9, 91, 0, "failed"),
        (0, 3, 4, "suspicious"),
        (0, 0, 4, "suspicious"),
        (0, 0, 0, "suspicious"),
    ],
)
def test_health_is_the_share_of_good_pages(succeeded: int, failed: int, skipped: int, health: str) -> None:
    """SIT-10 with the ratios of DOC-38; a phase without any output is `suspicious` (JOB-04)."""
    ending = verdict(make_counts(succeeded, failed, skipped), seeds_failed_only=False)
    assert ending is not None
    assert (ending.verb, ending.health) == ("complete", health)


def test_a_job_of_which_only_seeds_failed_fails() -> None:
    ending = verdict(make_counts(failed=2), seeds_failed_only=True)
    assert ending is not None
    assert (ending.verb, ending.health, ending.stop_reason) == ("fail", "failed", "seeds_failed")


@pytest.mark.parametrize("left", [{"pending": 1}, {"in_progress": 1}])
def test_no_end_is_said_while_work_is_left(left: dict[str, int]) -> None:
    """JOB-09."""
    assert verdict(make_counts(5, **left), seeds_failed_only=False) is None


@pytest.mark.parametrize("counts", [Counts(discovered=3, succeeded=2), make_counts(2, cancelled=1)])
def test_books_that_do_not_balance_end_nothing(counts: Counts) -> None:
    """JOB-09: `completed` is only said when discovered = succeeded + failed + skipped."""
    with pytest.raises(Corrupt, match="balance"):
        verdict(counts, seeds_failed_only=False)


def test_a_job_of_which_every_page_is_a_dead_end_is_suspicious() -> None:
    """FRO-13: one page of ten thousand must not look like a good crawl."""
    ending = verdict(make_counts(1), seeds_failed_only=False, dead_end="no link in it")
    assert ending is not None
    assert (ending.verb, ending.health) == ("complete", "suspicious")
    assert "no link in it" in ending.because
    partly = verdict(make_counts(1, 1), seeds_failed_only=False, dead_end="no link in it")
    assert partly is not None
    assert partly.health == "partial"


def test_only_few_pages_and_fewer_than_asked_for_may_be_a_dead_end() -> None:
    assert may_be_dead_end(make_counts(1), None)
    assert may_be_dead_end(make_counts(1), 2)
    assert not may_be_dead_end(make_counts(1), 1)
    assert not may_be_dead_end(make_counts(0, 0, 3), None)
    assert not may_be_dead_end(make_counts(SEEDS_LOOKED_AT + 1), None)
