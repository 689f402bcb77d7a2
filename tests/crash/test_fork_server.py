"""The process that workers are forked from stands still: its command notices, ends by itself and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from crash.scene import PAGES, Calm, Scene
from crash.test_processes import LONG_MS, crawling, query
from holdfast.cli import exits
from holdfast.demo.command import ChildCommand, is_gone_soon, living
from holdfast.dispatch.local.fork_server import WAIT_S, WAITS_MAX
from waiting import stop, wait_until

NOTICED_S = WAIT_S * WAITS_MAX + 20
ASLEEP_S = 5.0
A_LITTLE_LATER_S = 0.5
# Waits of four seconds in all. It stops its fork server, asks for a worker's end and says how the fork server answered.
ASKING = """
import os, signal
from holdfast.dispatch.local import fork_server
from holdfast.config import Settings
with fork_server.ForkServer(2, Settings()) as it:
    worker = it.fork()
    fork_server.WAIT_S, it._waits_max = 0.2, 20
    os.kill(worker.pid, signal.SIGKILL)
    os.kill(it._pid, signal.SIGSTOP)
    print("asks", flush=True)
    print(it.reap(worker.pid), it.is_gone, flush=True)
"""


def fork_server_of(command: ChildCommand) -> int:
    workers = command.workers()
    (fork_server,) = {parent for pid, parent, _ in living() if pid in workers}
    return fork_server


def group_of(command: ChildCommand) -> list[int]:
    return [pid for pid, _, group in living() if group == command.pid]


def test_a_fork_server_that_stands_still_ends_the_command_with_a_sentence_and_nothing_is_lost(
    scene: Scene, calm: Calm
) -> None:
    command = crawling(scene)
    workers = command.workers()
    stop(fork_server_of(command))
    os.kill(workers[0], signal.SIGKILL)
    assert command.wait(NOTICED_S) == 1
    assert "is gone or does not answer" in command.err
    assert "another takes its place" not in command.err
    assert all(is_gone_soon(pid) for pid in workers)
    assert group_of(command) == []
    assert scene.look().job.status == "in_progress"
    scene.world.set_faults()
    assert scene.crawled(processes=2).code == 0
    calm.assert_equal_to(scene)


def test_a_job_that_ends_while_the_fork_server_stands_still_is_said_to_be_complete(scene: Scene, calm: Calm) -> None:
    """Its workers have sent their final reports: the fork server is not needed for that."""
    command = crawling(scene)
    stop(fork_server_of(command))
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    assert f"{PAGES} succeeded" in command.err
    assert group_of(command) == []
    calm.assert_equal_to(scene)


def test_a_job_whose_last_page_was_saved_before_the_fork_server_died_is_said_to_be_complete(scene: Scene) -> None:
    scene.slow_down(LONG_MS)
    command = scene.crawl(processes=2, more=["--max-depth", "0"])
    scene.await_asks(1)
    workers, fork_server = command.workers(), fork_server_of(command)
    scene.stop(command.pid)
    wait_until(lambda: query(scene, "SELECT 1 FROM attempt WHERE outcome = 'succeeded'"), 30, "the page saved")
    os.kill(fork_server, signal.SIGKILL)
    assert all(is_gone_soon(pid) for pid in workers)
    command.send(signal.SIGCONT)
    assert command.wait(30) == 0, command.err
    assert scene.look().job.status == "completed"


def test_sigterm_while_the_fork_server_stands_still_drains_as_ever(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    stop(fork_server_of(command))
    command.send(signal.SIGTERM)
    assert command.wait(NOTICED_S) == exits.INTERRUPTED, command.err
    assert group_of(command) == []
    scene.world.set_faults()
    assert scene.crawled(processes=2).code == 0
    calm.assert_equal_to(scene)


@contextmanager
def asking() -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "asks\n"
        yield child
    finally:
        with suppress(ProcessLookupError):  # all of it has ended
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def test_a_fork_server_that_stands_still_alone_is_killed() -> None:
    with asking() as child:
        assert child.communicate(timeout=30)[0] == "-9 True\n"


def test_a_sleep_of_the_whole_group_does_not_count_against_the_fork_server() -> None:
    """PAU-09: Ctrl-Z while it is asked, or the lid of a laptop. Who wakes up a little later than we has its time."""
    with asking() as child:
        (fork_server,) = [pid for pid, parent, _ in living() if parent == child.pid]
        os.killpg(child.pid, signal.SIGSTOP)
        time.sleep(ASLEEP_S)
        os.kill(child.pid, signal.SIGCONT)
        time.sleep(A_LITTLE_LATER_S)
        os.kill(fork_server, signal.SIGCONT)
        assert child.communicate(timeout=30)[0] == "-9 False\n"
