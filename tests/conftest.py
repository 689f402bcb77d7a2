"""Fixtures for every suite, and the last lines of a test run: what started, what did not run."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("conformance")

from holdfast.testing.postgres import temporary_postgres  # noqa: E402 - the shipped suite's assertions come first
from servers import fresh_schema  # noqa: E402

# As CI has it, everywhere: the same examples each time, and none fails for being slow. A test may say otherwise.
settings.register_profile(
    "holdfast",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("holdfast")

NOTES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def pg_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a real PostgreSQL, started when the first test asks for it; one per pytest-xdist worker."""
    with temporary_postgres() as postgres:
        request.config.stash[NOTES].append(f"PostgreSQL started in {postgres.start_s:.1f} s")
        yield postgres.url


@pytest.fixture
def pg_schema_url(pg_url: str) -> Iterator[str]:
    """The URL of an empty schema of this test's own."""
    with fresh_schema(pg_url) as url:
        yield url


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOTES] = []
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so begins what a shell starts in the background, and
        signal.signal(signal.SIGINT, signal.default_int_handler)  # every program that it starts would not hear Ctrl-C


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Only a pytest-xdist worker has this attribute; what is put there travels to the process that reports.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["notes"] = session.config.stash[NOTES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    worker_output = getattr(node, "workeroutput", {})
    node.config.stash[NOTES] += [f"{node.gateway.id}: {note}" for note in worker_output.get("notes", [])]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for note in terminalreporter.config.stash[NOTES]:
        terminalreporter.write_line(note)
    lines = not_run(terminalreporter.stats.get("skipped", []))
    terminalreporter.write_line("could not run:" if lines else "every suite ran")
    for line in lines:
        terminalreporter.write_line(f"  {line}")


def not_run(skipped: list[pytest.TestReport]) -> list[str]:
    """One line per suite and reason: `crash: 3 tests (strace is not installed)`."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        counts[suite_of(report.nodeid), reason.removeprefix("Skipped: ")] += 1
    return [f"{suite}: {count} tests ({reason})" for (suite, reason), count in sorted(counts.items())]


def suite_of(nodeid: str) -> str:
    """The folder below tests/, or the file's own name for a test that stands alone."""
    parts = Path(nodeid.partition("::")[0]).parts
    return parts[1] if parts[:1] == ("tests",) and len(parts) > 1 else parts[0]
