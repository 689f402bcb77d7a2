"""Recipes that are hard on their worker processes (`--processes N`): slow to load, with children, deadly pages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import holdfast
from forked import ForkServer
from holdfast.testing.fake_web import FakeWeb

PAGES = 24
LONGER_THAN_STUCK_S = 6
STANDSTILLS_S_MAX = 250  # four of them, each until its lease has lapsed and its worker is taken for stuck
HEAD = """
import asyncio, os, time
from pathlib import Path
from holdfast.recipe import Recipe, record, target

pond = Recipe("pond")


@pond.plan
def plan(params):
    for n in range({pages}):
        yield target(f"{url}/{{n}}", type="page")
"""
SLOW_TO_LOAD = """
if Path("loaded").exists():  # by the command, which looks at the recipe first
    time.sleep({seconds})
Path("loaded").touch()


@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    yield record(frogs=1)
"""
WITH_A_CHILD = """
children = []


@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if not children:
        children.append(os.fork())
        if not children[0]:
            time.sleep(60)
            os._exit(0)
        Path(f"child-{os.getpid()}").write_text(str(children[0]))
        Path(f"child-{os.getpid()}").rename(f"worker-{os.getpid()}")  # whole, or not there
    await asyncio.sleep(0.05)
    yield record(frogs=1)
"""
DEADLY = """
@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if int(here.url.rpartition("/")[2]) % 8 == 0:
        os.kill(os.getpid(), 9)
    yield record(frogs=1)
"""

BLOCKING = """
@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if here.url.endswith("/7"):
        time.sleep(60)  # the whole event loop stands still
    yield record(frogs=1)
"""
EXITS = """
@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if here.url.endswith("/7"):
        os._exit(0)
    yield record(frogs=1)
"""


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb({f"/{n}": "x" for n in range(PAGES)}) as running:
        yield running


def words_for(web: FakeWeb, folder: Path, step: str) -> tuple[str, ...]:
    (folder / "pond.py").write_text(HEAD.format(pages=PAGES, url=web.url) + step)
    return ("run", "pond.py", *web.options, "--processes", "2", "--plain")


def test_a_recipe_may_take_longer_to_load_than_a_worker_may_be_stuck(tmp_path: Path, web: FakeWeb) -> None:
    done = holdfast(*words_for(web, tmp_path, SLOW_TO_LOAD.format(seconds=LONGER_THAN_STUCK_S)), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "died" not in done.err
    assert f"{PAGES} succeeded" in done.err


def test_pages_that_kill_their_workers_are_set_aside_and_the_rest_is_done(tmp_path: Path, web: FakeWeb) -> None:
    """E7: also where there are several of them, and each is tried alone before it is believed of it."""
    done = holdfast(*words_for(web, tmp_path, DEADLY), cwd=tmp_path)
    assert done.code == 3, done.err
    assert "21 succeeded + 3 failed" in done.err


def test_a_dead_worker_is_replaced_though_a_child_of_its_recipe_lives(tmp_path: Path, web: FakeWeb) -> None:
    """The child has its parent's pipes open: their end does not come with the parent's death."""
    words = words_for(web, tmp_path, WITH_A_CHILD)
    with ForkServer() as fork_server, fork_server.start(words, said=tmp_path / "it", cwd=tmp_path) as command:
        try:
            command.wait_for(lambda: any(tmp_path.glob("worker-*")), seconds=30)
            worker = int(next(tmp_path.glob("worker-*")).name.removeprefix("worker-"))
            os.kill(worker, signal.SIGKILL)
            assert command.wait(30) == 0, command.err
        finally:
            for written in tmp_path.glob("worker-*"):
                os.kill(int(written.read_text()), signal.SIGKILL)
    assert f"Worker pid {worker} died of signal 9" in command.err
    assert f"{PAGES} succeeded" in command.err


@pytest.mark.timeout(STANDSTILLS_S_MAX + 50)
def test_a_page_that_keeps_the_loop_standing_still_is_poison_and_the_rest_is_done_once(
    tmp_path: Path, web: FakeWeb
) -> None:
    """PAU-16: its worker loses its leases, is replaced, and the page is tried alone three times."""
    words, brief = words_for(web, tmp_path, BLOCKING), {"HOLDFAST_LEASE": "1s", "HOLDFAST_MIN_FREE_MB": "0"}
    with (
        ForkServer() as fork_server,
        fork_server.start(words, said=tmp_path / "it", cwd=tmp_path, environ=brief) as ended,
    ):
        assert ended.wait(STANDSTILLS_S_MAX) == 3, ended.err
    assert f"discovered {PAGES} = {PAGES - 1} succeeded + 1 failed + 0 skipped" in ended.err
    [row] = holdfast("targets", "pond", "--where", "status:failed", "--json", cwd=tmp_path).json()["targets"]
    assert (row["url"], row["code"]) == (f"{web.url}/7", "poison")
    assert f"a step of {web.url}/7 keeps everything else in this process waiting" in ended.err


def test_a_step_that_ends_its_process_with_exit_code_0_has_killed_its_worker(tmp_path: Path, web: FakeWeb) -> None:
    """A worker process that ends without its farewell has died, whatever its exit code."""
    ended = holdfast(*words_for(web, tmp_path, EXITS), "--json", cwd=tmp_path)
    counts = ended.json()["counts"]
    assert (ended.code, counts["succeeded"], counts["failed"]) == (3, PAGES - 1, 1), ended.err
    assert "died of exit code 0" in ended.err
