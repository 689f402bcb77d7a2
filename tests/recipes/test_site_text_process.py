"""Text that another process derives is the text that this one would derive, whatever becomes of that process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from holdfast.recipes.site import text_process
from holdfast.recipes.site.text import visible_text
from holdfast.recipes.site.text_process import TextProcess

PAGES = [
    (b"<p>Frogs &amp; toads<p>live here", "text/html"),
    (b"plain \xe4 text", "text/plain; charset=latin-1"),
    (b"\x89PNG", "image/png"),
    (b"", "text/html"),
    (b"<p>" + b"frog " * 1_000_000, "text/html"),
]


@pytest.fixture
def apart() -> Iterator[TextProcess]:
    made = TextProcess()
    yield made
    made.close()


def pid_of(apart: TextProcess) -> int:
    assert apart._child is not None
    return apart._child.pid


def test_the_other_process_derives_the_same_text(apart: TextProcess) -> None:
    assert [apart(*page) for page in PAGES] == [visible_text(*page) for page in PAGES]
    assert pid_of(apart) != os.getpid()


def test_a_process_that_dies_costs_no_text(apart: TextProcess) -> None:
    assert apart(*PAGES[0]) == "Frogs & toads\nlive here"
    os.kill(pid_of(apart), signal.SIGKILL)
    assert [apart(*page) for page in PAGES] == [visible_text(*page) for page in PAGES]


def test_a_process_that_cannot_start_costs_no_text(apart: TextProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_process, "COMMAND", ("-c", "raise SystemExit(1)"))
    assert apart(*PAGES[0]) == "Frogs & toads\nlive here"
    monkeypatch.setattr(sys, "executable", "")
    assert TextProcess()(*PAGES[0]) == "Frogs & toads\nlive here"


def test_signals_to_the_whole_group_leave_it_at_work(apart: TextProcess) -> None:
    """Ctrl-C in a terminal reaches it too; the crawl then finishes the pages in hand, and their text is wanted."""
    assert apart(*PAGES[0]) is not None
    first = pid_of(apart)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(first, number)
    assert apart(*PAGES[0]) == "Frogs & toads\nlive here"
    assert pid_of(apart) == first
