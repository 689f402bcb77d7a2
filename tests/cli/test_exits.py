"""Every exit code of ux 3.5 from its cause, and one code where several apply (C3)."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from cli.commands import PROGRAM, Running, environment, holdfast, ledger_in, make_counts, make_job, submit
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
        (errors.Denied(), 4),
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
    assert set(exits.MEANINGS) == {*range(15), 130, 137, 141, 143}


@pytest.mark.parametrize("who", ["frog", "frog:wrong", "holdfast:wrong"])
def test_whom_the_database_does_not_let_in_is_not_allowed(who: str, tmp_path: Path, pg_url: str) -> None:
    """And is not told that the same command goes on, nor shown a password."""
    done = holdfast("status", "--database", re.sub(r"//[^@]*@", f"//{who}@", pg_url), cwd=tmp_path)
    assert done.code == exits.NOT_ALLOWED, done.err
    assert "PostgreSQL does not let this user in" in done.err
    assert "wrong" not in done.err


def shell(*words: str, cwd: Path, **env: str) -> int:
    """The code as a shell gives it."""
    words = ("sh", "-c", '"$@"; exit $?', "sh", *PROGRAM, *words)
    return subprocess.run(words, cwd=cwd, env=environment(**env), capture_output=True, check=False).returncode


def test_killed_without_grace_is_137_and_the_same_command_goes_on(tmp_path: Path) -> None:
    words = ("crawl", "https://marsh.test/", "--name", "frogs", "--start-paused")
    assert shell(*words, cwd=tmp_path, HOLDFAST_FAULT="submit.after_commit:1:kill") == exits.KILLED_BY_KILL
    assert shell(*words, cwd=tmp_path) == 0


def test_a_command_that_works_no_job_ends_by_sigterm_with_143(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    waiting = Running("export", "frogs", "--follow", "-o", "-", cwd=tmp_path)
    waiting.wait_for("waiting for results")
    waiting.send(signal.SIGTERM)
    assert 128 - waiting.end().code == exits.KILLED_BY_TERM  # Python gives the signal as a negative code


def test_a_partial_result_is_no_failure_of_the_command() -> None:
    assert exits.of_result("paused", make_job(paused_by="user"), make_counts()) == 10
