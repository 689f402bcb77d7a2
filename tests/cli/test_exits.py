"""Every exit code of ux 3.5 from its cause, and one code where several apply (C3)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from cli.commands import PROGRAM, Running, environment, holdfast, ledger_in, make_counts, make_job, submit
from cli.polite_origin import Answer, Origin, linking
from holdfast import errors
from holdfast.cli import exits
from holdfast.ledger.postgres_address import NO_OPTIONS
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


@pytest.mark.parametrize(
    ("failed_by", "dead_seed", "code"),
    [
        ({"http_404": 2, "http_410": 3}, False, 0),
        ({"http_404": 5}, True, 3),
        ({"http_404": 4, "http_5xx": 1}, False, 3),
        ({"network_timeout": 5}, False, 3),
    ],
)
def test_unless_told_otherwise_dead_links_are_no_failure(failed_by: dict[str, int], dead_seed: bool, code: int) -> None:
    counts = Counts(discovered=100, succeeded=95, failed=5, failed_by=failed_by)
    assert exits.of_result("completed", make_job(health="partial"), counts, dead_seed=lambda: dead_seed) == code


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


@pytest.mark.parametrize("words", [("status",), ("resume",), ("selftest", "--pages", "40", "--kill", "1")])
def test_a_database_that_is_not_there_is_a_wrong_setting(words: tuple[str, ...], tmp_path: Path, pg_url: str) -> None:
    """The server did answer, and will say the same tomorrow: nobody is told to repeat the command."""
    done = holdfast(*words, "--database", re.sub(r"/postgres$", "/the%20marsh", pg_url), cwd=tmp_path)
    assert done.code == exits.USAGE, done.err
    assert 'PostgreSQL has no database "the marsh"' in done.err
    assert "createdb 'the marsh'" in done.err
    assert "did not answer" not in done.err


NO_ADDRESSES = (
    "postgresql://frog:sec@ret@127.0.0.1:1/marsh",
    "postgresql://frog:sec@ret@127.0.0.1:notaport/marsh",
    "postgresql://frog:sec/ret@127.0.0.1:1/marsh",
    "postgresql://frog:secret@127.0.0.1:70000/marsh",
    "postgresql://frog:sec%ret@127.0.0.1:1/marsh",
    "postgresql://frog:secret@[::1/marsh",
    "postgresql://frog:sec?ret@[::1/marsh",
    "postgresql://frog@[::1/marsh?password=secret",
    "postgresql://127.0.0.1/marsh?password=sec%ret",
    "postgresql://127.0.0.1:1/marsh?nonsense=1",
    "postgresql://127.0.0.1/marsh?password=sec&ret",
    "postgresql://127.0.0.1/marsh?pass%77ord=sec%ret",
    "postgresql://[frog:secret/marsh",
    f"postgresql://127.0.0.1:{'1' * 5000}/marsh",
    "postgressql://frog:sec@ret@127.0.0.1:1/marsh",
    "postgressql:frog:secret",
)


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_an_address_that_names_no_database_is_a_wrong_setting_and_its_password_is_not_shown(
    address: str, tmp_path: Path
) -> None:
    done = holdfast("status", "--database", address, cwd=tmp_path)
    assert done.code == exits.USAGE, done.err
    assert "cannot be read: " in done.err or "'postgressql:…' names no ledger" in done.err
    assert "--database postgresql://" in done.err
    assert not re.search("sec|ret", done.err)


def test_a_secret_of_two_lines_is_not_quoted(tmp_path: Path) -> None:
    done = holdfast("status", "--database", "postgresql://frog:\nsec%ret@127.0.0.1/marsh", cwd=tmp_path)
    assert (done.code, done.err) == (exits.USAGE, "--database: what it is set to is not a line of text\n")


def test_what_is_wrong_with_an_address_is_said(tmp_path: Path) -> None:
    done = holdfast("selftest", "--database", "postgresql://frog:secret@127.0.0.1:1/marsh?nonsense=1", cwd=tmp_path)
    assert (done.code, NO_OPTIONS in done.err) == (exits.USAGE, True), done.err


# Which test brings each code about, by the real command; it names the code that it expects.
SHOWN_BY = {
    exits.OK: "cli/test_crawl.py::test_some_failed_pages_exit_as_fail_on_says",
    exits.UNEXPECTED: "cli/test_bad_input.py::test_an_unexpected_error_leaves_its_traceback_in_a_file_and_says_where",
    exits.USAGE: "cli/test_bad_input.py::test_every_spelling_of_a_private_address_is_refused",
    exits.SOME_FAILED: "cli/test_exits.py::test_a_job_that_nothing_came_out_of_exits_with_3_whatever_may_fail",
    exits.NOT_ALLOWED: "cli/test_exits.py::test_whom_the_database_does_not_let_in_is_not_allowed",
    exits.NOT_FOUND: "cli/test_bad_input.py::test_a_job_that_is_not_there_exits_with_5",
    exits.REFUSED: "cli/test_control.py::test_a_refusal_as_json_is_a_problem_with_the_allowed_actions",
    exits.UNREACHABLE: "cli/test_bad_input.py::test_an_unreachable_database_exits_with_7",
    exits.JOB_FAILED: "cli/test_crawl.py::test_a_seed_that_cannot_be_fetched_fails_the_job",
    exits.CHECK_FAILED: "cli/test_bad_input.py::test_a_damaged_ledger_is_refused_and_left_as_it_is",
    exits.PAUSED: "cli/test_control.py::test_a_pause_waits_for_the_worker_and_the_worker_says_who_paused_it",
    exits.INTERRUPTED: "cli/test_signals.py::test_the_first_interrupt_pauses_and_the_same_command_goes_on",
    exits.TIME_LIMIT: "cli/test_limits.py::test_time_runs_while_the_job_is_worked_and_not_while_it_is_paused",
    exits.OTHER_LIMIT: "cli/test_crawl.py::test_results_are_written_however_the_command_ends",
    exits.DISK_FULL: "cli/test_bad_input.py::test_a_disk_that_is_full_at_the_start_exits_with_14",
    exits.KILLED_BY_INT: "cli/test_signals.py::test_the_second_interrupt_exits_at_once_and_the_pause_request_holds",
    exits.KILLED_BY_KILL: "cli/test_exits.py::test_killed_without_grace_is_137_and_the_same_command_goes_on",
    exits.READER_GONE: "cli/test_exits.py::test_a_command_whose_reader_is_gone_ends_with_141",
    exits.KILLED_BY_TERM: "cli/test_exits.py::test_a_command_that_works_no_job_ends_by_sigterm_with_143",
}


def test_every_code_has_a_test_that_brings_it_about() -> None:
    """C3: a code without one cannot be added to the table of meanings."""
    assert set(SHOWN_BY) == set(exits.MEANINGS)
    name_of = {code: name for name, code in vars(exits).items() if name.isupper() and isinstance(code, int)}
    for code, test in SHOWN_BY.items():
        path, name = test.split("::")
        source = (Path(__file__).parents[1] / path).read_text()
        found = re.search(rf"(?ms)((?-s:^@pytest.*\n)*)^def {name}\((.*?)(?=^(?:def|class) |^@|\Z)", source)
        assert found is not None, test
        assert re.search(rf"\b{code}\b|exits\.{name_of[code]}\b", found[0].replace(name, "")), f"{test}: {code}"


@pytest.mark.parametrize(
    ("words", "code"), [((), exits.OK), (("--fail-on", "any"), exits.SOME_FAILED), (("/gone",), exits.SOME_FAILED)]
)
def test_a_dead_link_is_a_fact_of_the_site_and_a_dead_seed_a_failure(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    """A nightly crawl of a site with one dead link is no alarm; what the user named and is not there is one."""
    answers = {"/": linking("/dead", "/gone"), "/gone": Answer(410)}
    with Origin(lambda path: answers.get(path, Answer(404))) as origin:
        more = [f"{origin.url}{word}" if word.startswith("/") else word for word in words]
        words_of = ["crawl", origin.url, *more, "--allow", origin.address, "--delay", "0", "--name", "frogs"]
        done = holdfast(*words_of, cwd=tmp_path)
    assert done.code == code, done.err
    assert "failed: http_404 1, http_410 1" in done.err
    assert holdfast("crawl", "frogs", cwd=tmp_path).code == (exits.OK if "--fail-on" in words else code)


def test_a_job_that_nothing_came_out_of_exits_with_3_whatever_may_fail(tmp_path: Path) -> None:
    """Nothing failed, as the site wants nobody; yet that is no good result, and nobody should take it for one."""
    with Origin(lambda path: Answer(200, b"User-agent: *\nDisallow: /\n")) as origin:
        words = ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--fail-on", "never"]
        done = holdfast(*words, "--json", cwd=tmp_path)
    assert (done.json()["status"], done.json()["health"]) == ("completed", "suspicious")
    assert (done.json()["counts"]["failed"], done.code) == (0, exits.SOME_FAILED)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("config", "show"), ("completion", "bash")])
def test_a_command_whose_reader_is_gone_ends_with_141(words: tuple[str, ...], unbuffered: str, tmp_path: Path) -> None:
    assert unread(words, tmp_path, unbuffered) == (exits.READER_GONE, b"")


def test_a_version_that_nobody_reads_is_no_traceback(tmp_path: Path) -> None:
    assert unread(("--version",), tmp_path, "1") == (exits.READER_GONE, b"")


def unread(words: tuple[str, ...], folder: Path, unbuffered: str) -> tuple[int, bytes]:
    """Code and stderr of a command whose output nobody is there to read."""
    reader, writer = os.pipe()
    os.close(reader)
    env = environment(PYTHONUNBUFFERED=unbuffered)
    with open(writer, "wb") as pipe:
        done = subprocess.run([*PROGRAM, *words], cwd=folder, env=env, stdout=pipe, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr


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
