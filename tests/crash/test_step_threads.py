"""A step that waits for a thread: none can be ended, and none holds up who was told to stop beyond its deadline."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import msgspec
import pytest

from cli.commands import holdfast
from engine.desk import FAST, page
from engine.test_session import Marsh
from holdfast.demo.command import ChildCommand
from holdfast.model.exchange import Response
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until

RECIPE = """
import asyncio, time
from pathlib import Path
from holdfast.recipe import Recipe, record, target

pond = Recipe("pond")


@pond.plan
def plan(params):
    yield target("{url}/0", type="page")


@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    Path({began!r}).touch()
    await asyncio.to_thread(time.sleep, 600)
    yield record(frogs=1)
"""

WITH_A_CHILD = """
import multiprocessing, time
from pathlib import Path
from holdfast.recipe import Recipe, record, target

pond = Recipe("pond")


@pond.plan
def plan(params):
    yield target("{url}/0", type="page")


@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    child.start()
    Path({began!r}).write_text(str(child.pid))
    yield record(frogs=1)
"""


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_command_ends_though_a_step_has_left_a_process_running(tmp_path: Path, processes: str) -> None:
    """Nor is the end of a pipe waited for that the child holds open."""
    began, recipe = tmp_path / "began", tmp_path / "pond.py"
    with FakeWeb({"/0": "x"}) as web:
        recipe.write_text(WITH_A_CHILD.format(url=web.url, began=str(began)))
        words = ["run", str(recipe), *web.options, "--processes", processes, "--plain"]
        words += ["--data", str(tmp_path / "holdfast-data")]
        with ChildCommand(words, said=tmp_path / "it", environ={"HOLDFAST_MIN_FREE_MB": "0"}) as command:
            try:
                assert command.wait(60) == 0, command.err
            finally:
                os.kill(int(began.read_text()), signal.SIGKILL)
    assert "1 succeeded" in command.err
    assert ("are left running: pid" in command.err) == (processes == "1")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_command_that_is_told_to_go_does_not_wait_for_a_steps_thread(tmp_path: Path, processes: str) -> None:
    began, recipe = tmp_path / "began", tmp_path / "pond.py"
    with FakeWeb({"/0": "x"}) as web:
        recipe.write_text(RECIPE.format(url=web.url, began=str(began)))
        words = ["run", str(recipe), *web.options, "--processes", processes, "--plain"]
        words += ["--data", str(tmp_path / "holdfast-data")]
        environ = {"HOLDFAST_PAUSE_DEADLINE": "1s", "HOLDFAST_MIN_FREE_MB": "0"}
        with ChildCommand(words, said=tmp_path / "it", environ=environ) as command:
            wait_until(began.exists, 30)
            command.send(signal.SIGTERM)
            assert command.wait(20) == 11, command.err
    assert "(at most 1 s)" in command.err
    assert "Traceback" not in command.err
    status = holdfast("status", "pond", "--json", cwd=tmp_path).json()
    assert (status["status"], status["counts"]["in_progress"], status["counts"]["pending"]) == ("in_progress", 0, 1)


class Threaded:
    """A page of which every answer also begins something in a thread, which lasts until `go_on`, or ten seconds."""

    def __init__(self, *, awaited: bool) -> None:
        self.begun, self.go_on, self.done = threading.Event(), threading.Event(), threading.Event()
        self._awaited = awaited

    async def __call__(self, url: str) -> Response:
        running = asyncio.get_running_loop().run_in_executor(None, self._last)
        if self._awaited:
            await running
        return page(url)

    def _last(self) -> None:
        self.begun.set()
        self.go_on.wait(10)
        self.done.set()


def test_a_session_that_is_told_to_stop_leaves_a_steps_thread_behind_at_its_deadline(tmp_path: Path) -> None:
    site = Threaded(awaited=True)
    session = Marsh(tmp_path, site).session(stop_deadline_s=0.2)

    def stop() -> None:
        assert site.begun.wait(30)
        session.interrupt("drain")

    stopping = threading.Thread(target=stop)
    stopping.start()
    ended = session.run()
    stopping.join()
    assert (ended.how, ended.counts.pending, site.done.is_set()) == ("interrupted", 1, False)
    site.go_on.set()
    assert site.done.wait(30)


def test_what_a_step_left_to_a_thread_is_waited_for_where_nobody_is_in_a_hurry(tmp_path: Path) -> None:
    """It was so, and it may be what the step is for. Also within a deadline that has not come."""
    site = Threaded(awaited=False)
    marsh = Marsh(tmp_path, site, msgspec.structs.replace(FAST, max_attempts=1))
    telling = threading.Timer(1.0, site.go_on.set)
    telling.start()
    ended, was_done = marsh.run(), site.done.is_set()
    telling.join()
    assert (ended.how, was_done) == ("completed", True)
