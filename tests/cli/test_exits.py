"""Every exit code of ux 3.5 from its cause, and one code where several apply (C3)."""

from __future__ import annotations

import pytest

from cli.commands import make_counts, make_job
from holdfast import errors
from holdfast.cli import exits
from holdfast.model.job import Counts

ALL_GOOD = Counts(discovered=3, succeeded=3)
SOME_FAILED = Counts(discovered=100, succeeded=95, failed=5)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError(), 2),
        (errors.BadParams(), 2),
        (errors.NotFound(), 5),
        (errors.IllegalMove("job", "completed", "pause", ()), 6),
        (errors.Refused(), 6),
        (errors.LedgerUnavailable(), 7),
        (errors.LedgerUnfit(), 9),
        (errors.Corrupt(), 9),
        (errors.BatchMismatch(), 9),
        (errors.DiskFull(), 14),
        (errors.HoldfastError(), 1),
        (ValueError("no frog"), 1),
    ],
)
def test_each_error_has_its_code(error: Exception, code: int) -> None:
    assert exits.of_error(error) == code


@pytest.mark.parametrize(
    ("how", "changes", "code"),
    [
        ("completed", {"health": "ok"}, 0),
        ("completed", {"health": "suspicious"}, 3),
        ("failed", {}, 8),
        ("paused", {"paused_by": "user"}, 10),
        ("paused", {"paused_by": "blocked"}, 10),
        ("paused", {"paused_by": "interrupt"}, 11),
        ("paused", {"paused_by": "disk_full"}, 14),
        ("disk_full", {}, 14),
        ("interrupted", {}, 11),
        ("watched", {}, 11),
        ("timeout", {"stop_reason": "time_limit"}, 12),
        ("timeout", {"stop_reason": "page_limit"}, 13),
        ("cancelled", {}, 6),
        ("lost", {}, 6),
    ],
)
def test_each_end_of_a_job_has_its_code(how: str, changes: dict[str, str], code: int) -> None:
    assert exits.of_result(how, make_job(**changes), ALL_GOOD) == code


@pytest.mark.parametrize(("fail_on", "code"), [("any", 3), ("never", 0), (0.05, 3), (0.06, 0), (0.0, 3)])
def test_failures_count_as_fail_on_says(fail_on: str | float, code: int) -> None:
    assert exits.of_result("completed", make_job(health="partial"), SOME_FAILED, fail_on) == code


def test_without_failures_no_share_of_them_is_too_many() -> None:
    assert exits.of_result("completed", make_job(health="ok"), ALL_GOOD, 0.0) == 0


def test_where_several_codes_apply_the_gravest_is_given() -> None:
    order = [8, 14, 12, 11, 3, 0]
    assert [exits.worst(order[at:]) for at in range(len(order))] == order
    assert exits.worst([]) == 0
    assert exits.worst([0, 1, 3]) == 1


def test_every_code_that_is_given_has_a_meaning() -> None:
    assert set(exits.PRECEDENCE) <= set(exits.MEANINGS)
    assert set(exits.MEANINGS) >= {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 130}


def test_a_partial_result_is_no_failure_of_the_command() -> None:
    assert exits.of_result("paused", make_job(paused_by="user"), make_counts()) == 10
