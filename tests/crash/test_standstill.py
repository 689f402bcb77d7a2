"""A step that does not let go of the one process of its command: Ctrl-C and SIGTERM end it all the same (PAU-16)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import holdfast
from holdfast.demo.command import ChildCommand
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until

RECIPE = """
import ctypes, os, signal, time
from pathlib import Path
from holdfast.recipe import Recipe, record, target

pond = Recipe("pond")


def deaf():  # in C, where no signal interrupts it
    mutex = ctypes.create_string_buffer(64)
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(mutex)


def busy():
    while True:
        time.sleep(1)


def forks():
    if os.fork() == 0:
        time.sleep(3)  # the terminal sends its Ctrl-C to all processes of the group
        os._exit(0)
    Path({folder!r}, "forked").touch()
    time.sleep(3)


@pond.plan
def plan(params):
    yield target("{url}/0", type="page")


@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if not Path({folder!r}, "mended").exists():
        Path({folder!r}, "began").touch()
        {blocks}()
    yield record(frogs=1)
"""
END_S_MAX = 60
BRIEF = {"HOLDFAST_PAUSE_DEADLINE": "1s", "HOLDFAST_MIN_FREE_MB": "0", "HOLDFAST_LEASE": "1s"}


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb({"/0": "x"}) as running:
        yield running


def standing_still(web: FakeWeb, folder: Path, blocks: str, **environ: str) -> ChildCommand:
    (folder / "pond.py").write_text(RECIPE.format(url=web.url, folder=str(folder), blocks=blocks))
    words = ["run", str(folder / "pond.py"), *web.options, "--plain", "--data", str(folder / "holdfast-data")]
    command = ChildCommand(words, said=folder / "it", environ={**BRIEF, **environ})
    wait_until((folder / "began").exists, 30)
    return command


def is_gone_by_interrupt(command: ChildCommand) -> bool:
    command.send(signal.SIGINT)
    return command.code is not None


def assert_goes_on(folder: Path) -> None:
    (folder / "mended").touch()
    again = holdfast("resume", "pond", cwd=folder)
    assert (again.code, "1 succeeded" in again.err) == (0, True), again.err


@pytest.mark.parametrize("blocks", ["busy", "deaf"])
def test_a_second_interrupt_ends_a_command_whose_step_does_not_let_go(
    tmp_path: Path, web: FakeWeb, blocks: str
) -> None:
    """PAU-16, C2: also where the main thread hears nothing."""
    with standing_still(web, tmp_path, blocks, HOLDFAST_PAUSE_DEADLINE="10m") as command:
        wait_until(lambda: is_gone_by_interrupt(command), END_S_MAX, "an end")  # two at once may come as one
        assert command.wait(20) == 130, command.err
    assert_goes_on(tmp_path)


@pytest.mark.parametrize(("blocks", "number"), [("busy", signal.SIGINT), ("deaf", signal.SIGTERM)])
def test_a_command_that_is_told_to_go_is_gone_after_its_deadline_though_a_step_does_not_let_go(
    tmp_path: Path, web: FakeWeb, blocks: str, number: signal.Signals
) -> None:
    with standing_still(web, tmp_path, blocks) as command:
        command.send(number)
        assert command.wait(END_S_MAX) == 11, command.err
    assert "A page does not let go of this process" in command.err
    assert_goes_on(tmp_path)


def test_one_interrupt_is_one_though_a_process_that_a_step_forked_gets_it_too(tmp_path: Path, web: FakeWeb) -> None:
    with standing_still(web, tmp_path, "forks", HOLDFAST_LEASE="30s", HOLDFAST_PAUSE_DEADLINE="20s") as command:
        wait_until((tmp_path / "forked").exists, 30)
        os.killpg(os.getpgid(command.pid), signal.SIGINT)
        assert command.wait(30) in (0, 11), command.err
