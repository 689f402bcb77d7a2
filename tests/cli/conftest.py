"""A world to crawl, small enough to be crawled in a second or two."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.demo.serving import WorldServer


@pytest.fixture(scope="session", autouse=True)
def _hang_ups_are_heard() -> None:
    """Under nohup children would inherit an ignored SIGHUP, and rightly go on."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    """Sixty pages that answer at once; its log is shared, so that tests look at what was added."""
    log_path = tmp_path_factory.mktemp("tree") / "requests.jsonl"
    with WorldServer("tree", pages=60, delay_ms=0, log_path=log_path) as world:
        yield world


@pytest.fixture
def slow_tree(tmp_path: Path) -> Iterator[WorldServer]:
    """More pages than a test has patience for: what is started here is stopped, killed or paused."""
    with WorldServer("tree", pages=2000, delay_ms=30, log_path=tmp_path / "requests.jsonl") as world:
        yield world
