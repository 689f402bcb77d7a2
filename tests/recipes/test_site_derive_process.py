"""What another process derives is what this one would derive, whatever becomes of that process."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from itertools import count

import pytest

from holdfast.model.derived import FAILED, TOO_SLOW, Derived
from holdfast.recipes.site import derive_process
from holdfast.recipes.site.derive import derive
from holdfast.recipes.site.derive_pool import DerivePool
from holdfast.recipes.site.derive_process import DeriveProcess

URL = "https://frogs.example/pond"
FROGS = (b"<title>Pond</title><p>Frogs &amp; toads<p>live here", URL, "text/html")
PAGES = [
    FROGS,
    (b"plain \xe4 text", URL, "text/plain; charset=latin-1"),
    (b"\x89PNG", URL, "image/png"),
    (b"", URL, "text/html"),
    (b"<p>" + b"frog " * 1_000_000, URL, "text/html"),
]
# A child that takes its page for the first of its kind and never ends, or dies; what it is told of comes through.
SPINS = "for _ in iter(int, 1): pass"
DIES = "os._exit(3)"
CHILD = """
import os
from holdfast.recipes.child_process import run_child
from holdfast.recipes.site import derive_process as own
told = own._derived
def derived(content, url, content_type, flag):
    if b"built to take an hour" in content and not flag:
        {what}
    return told(content, url, content_type, flag)
own._derived = derived
run_child(own.serve, own.MEMORY_BYTES)
"""
HOSTILE = (b"<p>built to take an hour", URL, "text/html")


@pytest.fixture
def apart(request: pytest.FixtureRequest) -> Iterator[DeriveProcess]:
    made = DeriveProcess(*([("-c", request.param)] if hasattr(request, "param") else []))
    yield made
    made.close()


def pid_of(apart: DeriveProcess) -> int:
    assert apart._child.pid is not None
    return apart._child.pid


def test_the_other_process_derives_the_same(apart: DeriveProcess) -> None:
    assert [apart(*page) for page in PAGES] == [derive(*page) for page in PAGES]
    assert pid_of(apart) != os.getpid()


def test_a_process_that_dies_costs_no_page(apart: DeriveProcess) -> None:
    assert apart(*FROGS).text == "Frogs & toads\nlive here"
    os.kill(pid_of(apart), signal.SIGKILL)
    assert [apart(*page) for page in PAGES] == [derive(*page) for page in PAGES]


def test_a_process_that_cannot_start_costs_no_page(apart: DeriveProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert DeriveProcess()(*FROGS) == derive(*FROGS)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert DeriveProcess()(*FROGS) == derive(*FROGS)


@pytest.mark.parametrize("apart", ["raise SystemExit(1)"], indirect=True)
def test_a_program_that_never_answers_is_a_recorded_refusal(apart: DeriveProcess) -> None:
    assert apart(*FROGS) == Derived(flags=(FAILED,))


def test_signals_to_the_whole_group_leave_it_at_work(apart: DeriveProcess) -> None:
    """Ctrl-C in a terminal reaches it too; the crawl then finishes the pages in hand, and their text is wanted."""
    assert apart(*FROGS).text is not None
    first = pid_of(apart)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(first, number)
    assert apart(*FROGS) == derive(*FROGS)
    assert pid_of(apart) == first


@pytest.mark.parametrize("apart", [CHILD.format(what=SPINS)], indirect=True)
def test_a_page_built_to_take_an_hour_costs_its_limit_and_becomes_plain_text(apart: DeriveProcess) -> None:
    """SIT-11: a page whose Markdown cannot be derived says so, and its neighbours are derived."""
    began = os.times().children_user
    derived = apart(*HOSTILE)
    assert (derived.markdown, derived.text, derived.flags) == (
        "built to take an hour\n",
        "built to take an hour",
        (TOO_SLOW,),
    )
    assert os.times().children_user - began < 2 * (derive_process.CPU_S + 1)
    assert apart(*FROGS) == derive(*FROGS)


@pytest.mark.parametrize("apart", [CHILD.format(what=DIES)], indirect=True)
def test_a_page_that_kills_its_process_becomes_plain_text(apart: DeriveProcess) -> None:
    assert apart(*HOSTILE).flags == (TOO_SLOW,)
    assert apart(*FROGS) == derive(*FROGS)


def test_a_process_is_replaced_after_so_many_pages(apart: DeriveProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive_process, "PAGES_MAX", 2)
    pids = []
    for _ in range(4):
        assert apart(*FROGS) == derive(*FROGS)
        pids.append(apart._child.pid)
    assert pids[1] is pids[3] is None
    assert pids[0] != pids[2]


def test_a_pool_answers_every_page_and_leaves_no_process() -> None:
    pool = DerivePool(2)
    wanted = [(b"<p>frog %d" % number, URL, "text/html") for number, _ in zip(count(), range(20), strict=False)]
    futures = [pool.submit(*page) for page in wanted]
    assert [future.result() for future in futures] == [derive(*page) for page in wanted]
    pids = [pid_of(process) for process in pool._started]
    pool.close()
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_a_child_that_nobody_closed_ends_with_its_owner_and_leaves_no_zombie() -> None:
    apart = DeriveProcess()
    assert apart(*FROGS) == derive(*FROGS)
    pid = pid_of(apart)
    del apart
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
