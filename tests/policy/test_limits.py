"""Which limit is reached, what is left, and what raising one means. Pure."""

from __future__ import annotations

import pytest

from cli.commands import make_counts, make_job
from holdfast.errors import BadParams
from holdfast.model.job import Counts, Options
from holdfast.policy import limits

TEN = Counts(succeeded=7, failed=3, skipped=90, pending=4)


@pytest.mark.parametrize(
    ("options", "active_ms", "reason"),
    [
        (Options(), 10**9, None),
        (Options(max_pages=11), 0, None),
        (Options(max_pages=10), 0, "page_limit"),
        (Options(max_pages=3), 0, "page_limit"),
        (Options(time_limit_s=3.0), 2_999, None),
        (Options(time_limit_s=3.0), 3_000, "time_limit"),
        (Options(time_limit_s=3.0, max_pages=10), 9_000, "time_limit"),
    ],
)
def test_a_limit_counts_what_succeeded_and_failed_and_active_time(
    options: Options, active_ms: int, reason: str | None
) -> None:
    """PAU-07, PAU-08."""
    assert limits.reached(make_job(options=options, active_ms=active_ms), TEN) == reason


def test_the_remaining_time_never_falls_below_nothing() -> None:
    assert limits.time_left_ms(Options(), 5) is None
    assert limits.time_left_ms(Options(time_limit_s=2.5), 1_000) == 1_500
    assert limits.time_left_ms(Options(time_limit_s=2.5), 9_000) == 0


def test_what_is_in_hand_keeps_a_job_from_its_end() -> None:
    assert limits.at_page_limit(TEN, 10) is not None
    assert limits.at_page_limit(Counts(succeeded=10, in_progress=1), 10) is None
    assert limits.at_page_limit(TEN, None) is None


def test_an_extension_adds_to_what_is_used_up() -> None:
    job = make_job(options=Options(max_pages=10, time_limit_s=60.0), active_ms=61_000)
    options = limits.extended(job, make_counts(succeeded=9, failed=3), 30.0, 5)
    assert (options.time_limit_s, options.max_pages) == (91.0, 17)


@pytest.mark.parametrize(("more_s", "in_all_s"), [(3.0, 9.0), (1.25, 7.3), (0.001, 6.007)])
def test_an_extended_time_limit_can_be_read(more_s: float, in_all_s: float) -> None:
    job = make_job(options=Options(time_limit_s=6.0), active_ms=6_006)
    assert limits.extended(job, TEN, more_s, None).time_limit_s == in_all_s


def test_a_limit_that_is_not_there_cannot_be_extended() -> None:
    for more_s, more_pages in ((1.0, None), (None, 1)):
        with pytest.raises(BadParams, match="docs-x has no"):
            limits.extended(make_job(), TEN, more_s, more_pages)
