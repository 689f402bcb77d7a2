"""Ctrl-C once, Ctrl-C twice, SIGTERM, SIGHUP: what is said, the exit codes, and that all of it resumes (C2)."""

from __future__ import annotations

import os
import pty
import signal
from pathlib import Path

import pytest

from cli.commands import PROGRAM, Running, crawl_words, environment, holdfast, ledger_in
from holdfast.demo.serving import WorldServer

CTRL_C = b"\x03"
HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"
PAUSING = "(at most 10 s). Ctrl-C again exits now; nothing is lost either way."


def crawling(world: WorldServer, folder: Path) -> Running:
    crawl = Running(*crawl_words(world), cwd=folder)
    crawl.wait_for(" crawling succeeded=")
    return crawl


def test_the_first_interrupt_pauses_and_the_same_command_goes_on(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = crawling(slow_tree, tmp_path)
    crawl.send(signal.SIGINT)
    said = crawl.wait_for("Pausing")
    assert said.rstrip().endswith(PAUSING)
    ended = crawl.end()
    assert ended.code == 11
    assert ended.err.splitlines()[-2].startswith("Paused  frogs  R-1   discovered ")
    found = holdfast("status", "frogs", "--json=status,paused_by", cwd=tmp_path).json()
    assert found == {"status": "paused", "paused_by": "interrupt"}
    again = Running("resume", cwd=tmp_path)
    again.wait_for("Resuming frogs: ")
    again.send(signal.SIGINT)
    assert again.end().code == 11


def test_the_second_interrupt_exits_at_once_and_the_pause_request_holds(slow_tree: WorldServer, tmp_path: Path) -> None:
    """The pages in hand take longer than the test: only the second one can have ended the command."""
    crawl = crawling(slow_tree, tmp_path)
    slow_tree.set_faults(slow_share=1.0, slow_ms=60_000)
    _until_a_page_is_slow(slow_tree)
    crawl.send(signal.SIGINT)
    crawl.wait_for("Pausing")
    with ledger_in(tmp_path) as ledger:
        while ledger.job("frogs").requested != "pause":
            pass
    crawl.send(signal.SIGINT)
    ended = crawl.end()
    assert ended.code == 130
    assert "Paused  frogs" not in ended.err
    found = holdfast("status", "frogs", "--json=status,requested,paused_by", cwd=tmp_path).json()
    assert found == {"status": "in_progress", "requested": "pause", "paused_by": "interrupt"}
    again = Running("resume", cwd=tmp_path)
    again.wait_for("Resuming frogs: ")
    again.stop()


def _until_a_page_is_slow(world: WorldServer) -> None:
    """Until a page was asked for after the dial was turned."""
    asked = len(world.asks())
    while len(world.asks()) == asked:
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stop_drains_without_pausing(number: signal.Signals, slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = crawling(slow_tree, tmp_path)
    crawl.send(number)
    ended = crawl.end()
    assert ended.code == 11
    assert "Stopping" in ended.err
    assert ended.err.splitlines()[-2].startswith("Interrupted  frogs  R-1   discovered ")
    found = holdfast("status", "frogs", "--json=status,counts", cwd=tmp_path).json()
    assert found["status"] == "in_progress"
    assert found["counts"]["in_progress"] == 0


def test_an_interrupt_only_stops_watching(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = crawling(slow_tree, tmp_path)
    watching = Running("resume", "frogs", cwd=tmp_path)
    watching.wait_for("; watching.")
    watching.send(signal.SIGINT)
    watched = watching.end()
    assert watched.code == 11
    assert watched.err.splitlines()[-1].startswith(f"Stopped watching; frogs goes on in pid {crawl.pid} on ")
    assert holdfast("status", "frogs", "--json=requested", cwd=tmp_path).json() == {"requested": None}
    crawl.stop()


def test_a_watched_job_whose_worker_dies_is_interrupted(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = crawling(slow_tree, tmp_path)
    watching = Running("crawl", "frogs", cwd=tmp_path)
    watching.wait_for("; watching.")
    crawl.stop()
    watched = watching.end()
    assert watched.code == 11
    assert watched.err.splitlines()[-2].startswith("Interrupted  frogs  R-1 ")


def test_on_a_terminal_ctrl_c_pauses_and_the_summary_stays_behind(slow_tree: WorldServer, tmp_path: Path) -> None:
    """C2: the real terminal, a pseudo-terminal with the key Ctrl-C."""
    pid, terminal = on_a_terminal(slow_tree, tmp_path)
    said = _read_until(terminal, b"known left")
    os.write(terminal, CTRL_C)
    said += _read_to_end(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 11
    assert b"Ctrl-C pauses safely; the same command continues" in said
    assert b"Pausing" in said
    last = said.rpartition(b"\x1b")[2]
    assert "Paused frogs R-1 discovered " in " ".join(last.decode().split())  # folded where the terminal ends


def test_on_a_terminal_a_second_ctrl_c_exits_at_once_and_gives_the_terminal_back(
    slow_tree: WorldServer, tmp_path: Path
) -> None:
    """C2: text, 130, and a line of its own for the prompt; the job goes on afterwards."""
    pid, terminal = on_a_terminal(slow_tree, tmp_path)
    _read_until(terminal, b"known left")
    slow_tree.set_faults(slow_share=1.0, slow_ms=60_000)
    _until_a_page_is_slow(slow_tree)
    os.write(terminal, CTRL_C)
    said = _read_until(terminal, PAUSING.encode())
    os.write(terminal, CTRL_C)
    said += _read_to_end(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert b"Paused  frogs" not in said
    assert said.rfind(SHOW_CURSOR) > said.rfind(HIDE_CURSOR)
    again = Running("resume", cwd=tmp_path)
    again.wait_for("Resuming frogs: ")
    again.stop()


def on_a_terminal(world: WorldServer, folder: Path) -> tuple[int, int]:
    """A crawl on a terminal of its own: its pid, and our side of the terminal."""
    words = [*PROGRAM, *crawl_words(world), "--data", str(folder / "holdfast-data")]
    env = environment(TERM="xterm", COLUMNS="160")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(words[0], words, env)  # noqa: S606 - the terminal's other side
    return pid, terminal


def _read_until(terminal: int, words: bytes) -> bytes:
    said = b""
    while words not in said:
        said += os.read(terminal, 65_536)
    return said


def _read_to_end(terminal: int) -> bytes:
    said = b""
    try:
        while read := os.read(terminal, 65_536):
            said += read
    except OSError:  # how Linux says that the other side of a terminal is gone
        pass
    return said
