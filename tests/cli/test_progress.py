"""The job document is a contract, and the rate is honest (ux 3.4, rule 5)."""

from __future__ import annotations

from typing import Any

import pytest

from cli.commands import make_counts, make_job
from holdfast.clock import iso
from holdfast.model.job import Counts, Options
from holdfast.model.record import Checkpoint
from holdfast.views.job import Rate, average_rate, job_document

KEYS = (
    "schema id name kind status requested paused_by because since phase run health stop_reason counts failed_by "
    "skipped_by counts_by_type rate_per_second planned_total percent eta active_seconds limits checkpoint "
    "allowed_actions recoveries refetched_after_crash output links params created_at started_at paused_at finished_at "
    "total_paused_duration last_error auto_resume"
)
NOW_MS = 1_772_375_460_000


def make_checkpoint(number: int = 61) -> Checkpoint:
    return Checkpoint(
        job=1, number=number, reason="targets", at=1_772_375_460_000, run=4, phase="crawling", generation=1, cursor=1,
        commits={}, counts=Counts(), active_ms=0, previous=b"",
    )  # fmt: skip


def test_the_job_document_has_these_keys_in_this_order() -> None:
    assert list(job_document(make_job(), make_counts(), make_checkpoint())) == KEYS.split()


def test_the_job_document_of_the_handbook_comes_out_of_its_values() -> None:
    found = job_document(make_job(), make_counts(), make_checkpoint(), rate_per_second=6.12)
    expected = {
        "schema": "holdfast.job/1", "id": "J-7f3a", "name": "docs-x", "kind": "site", "status": "in_progress",
        "because": "fetching 8 pages", "since": "2026-03-01T14:00:00Z", "phase": "crawling", "run": "R-4",
        "rate_per_second": 6.1, "active_seconds": 731.2, "percent": None, "eta": None,
        "checkpoint": {"number": 61, "at": "2026-03-01T14:31:00Z"}, "allowed_actions": ["pause", "cancel", "rollback"],
        "recoveries": 1, "refetched_after_crash": 3, "links": {"ui": "/jobs/J-7f3a"},
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected
    counts = found["counts"]
    assert list(counts) == ["discovered", "succeeded", "failed", "skipped", "cancelled", "pending", "in_progress"]
    assert counts["discovered"] == sum(counts.values()) - counts["discovered"]
    assert sum(found["failed_by"].values()) == counts["failed"]


def test_a_job_that_never_ran_has_no_run_and_no_checkpoint() -> None:
    found = job_document(make_job(run=0, status="pending", because="submitted, not started"), Counts(), None)
    assert (found["run"], found["checkpoint"], found["rate_per_second"]) == (None, None, None)
    assert found["because"] == "submitted, not started"


@pytest.mark.parametrize(("planned", "percent"), [(None, None), (2900, 50.0)])
def test_only_a_known_total_has_a_percentage(planned: int | None, percent: float | None) -> None:
    assert job_document(make_job(planned_total=planned), make_counts(), None)["percent"] == percent


@pytest.mark.parametrize(
    ("changes", "left_ms"),
    [
        ({"planned_total": 2900}, 731_200),  # half of it is settled: as long again
        ({"options": Options(max_pages=1421 + 300)}, round(300 * 731_200 / 1421)),
        ({"options": Options(max_pages=10_000)}, None),  # less is known to be left than the limit allows
        ({}, None),  # nobody knows how much there is
        ({"planned_total": 2900, "generation": 2}, None),
        ({"planned_total": 2900, "active_ms": 5_000}, None),
        ({"planned_total": 2900, "status": "paused"}, None),
    ],
)
def test_an_end_is_foretold_where_it_can_be(changes: dict[str, Any], left_ms: int | None) -> None:
    found = job_document(make_job(**changes), make_counts(), None, now_ms=NOW_MS)["eta"]
    assert found == (None if left_ms is None else iso(NOW_MS + left_ms))


def test_the_rate_looks_back_half_a_minute_and_not_at_all_at_first() -> None:
    rate = Rate()
    for second in range(100):
        counts = Counts(succeeded=10 * second if second < 60 else 600)
        rate.add(counts, second * 1000)
        if second == 0:
            assert rate.per_second(counts, 500) is None
        if second == 50:
            assert rate.per_second(counts, 50_000) == pytest.approx(10)
    assert rate.per_second(Counts(succeeded=600), 99_000) == pytest.approx(0)


def test_pages_that_a_rescan_puts_back_are_no_pages_undone() -> None:
    """Half of 600 pages are put back in slices, while and after which two a second are fetched."""
    rate, settled, seen = Rate(), 600, []
    for second in range(20):
        settled += 2 if second % 2 or second > 10 else -50
        rate.add(Counts(succeeded=settled), second * 1000)
        seen.append(rate.per_second(Counts(succeeded=settled), second * 1000))
    assert min(each for each in seen if each is not None) >= 0
    assert seen[-1] == pytest.approx(2 * 14 / 19)


def test_a_reader_from_outside_gets_an_average_only_of_a_job_that_runs() -> None:
    assert average_rate(make_job(active_ms=100_000), make_counts()) == pytest.approx(14.21)
    assert average_rate(make_job(active_ms=900), make_counts()) is None
    assert average_rate(make_job(status="paused"), make_counts()) is None
    assert average_rate(make_job(active_ms=100_000, generation=2), make_counts()) is None
