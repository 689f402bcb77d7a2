"""The parent process of a test's PostgreSQL: it outlives the test process just long enough to clean up after it.

Commands come as JSON lines on stdin, each gets one JSON line on stdout. The end of stdin, which also comes when the
test process dies by kill -9, stops the server and removes its directory. PR_SET_PDEATHSIG was rejected: it is lost on
every change of user, fires when the starting *thread* ends, and leaves the files behind.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.clock import SystemClock, pause_thread

READY_S_MAX = 60.0
STOP_S_MAX = 20.0
POLL_S = 0.01


class Keeper:
    """Holds at most one running server, started in `directory`, its output in `postgres.log` there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._server: subprocess.Popen[bytes] | None = None

    def obey(self, command: Mapping[str, Any]) -> dict[str, int]:
        """`run` a program to its end, `start` the server and wait until it is ready, `end` it with a signal, or send
        it and its backends one that does not (`signal`)."""
        match command:
            case {"do": "run", "argv": argv}:
                return {"exit": self._spawn(argv).wait()}
            case {"do": "start", "argv": argv, "pid_file": pid_file}:
                return self._start(argv, Path(pid_file))
            case {"do": "end", "signal": number}:
                return {"exit": self.end(signal.Signals(number))}
            case {"do": "signal", "signal": number}:
                assert self._server is not None, "no server runs"
                return {"told": tell_all(self._server, signal.Signals(number))}
        raise ValueError(f"unknown command: {command}")

    def end(self, how: signal.Signals) -> int:
        """Signal the server and wait for it; SIGKILL takes its backends too, as a power cut would."""
        if self._server is None:
            return 0
        if how is signal.SIGKILL:
            tell_all(self._server, signal.SIGKILL)
        else:
            self._server.send_signal(how)
        try:
            status = self._server.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            tell_all(self._server, signal.SIGKILL)
            status = self._server.wait()
        self._server = None
        return status

    def _start(self, argv: Sequence[str], pid_file: Path) -> dict[str, int]:
        assert self._server is None, "the server runs already"
        server = self._server = self._spawn(argv)
        clock = SystemClock()
        deadline_ms = clock.monotonic_ms() + READY_S_MAX * 1000
        while not is_ready(pid_file, server.pid):
            if server.poll() is not None or clock.monotonic_ms() > deadline_ms:
                return {"exit": self.end(signal.SIGKILL)}
            pause_thread(POLL_S)
        return {"pid": server.pid}

    def _spawn(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        with (self._directory / "postgres.log").open("ab") as log:
            return subprocess.Popen(
                argv,
                cwd=self._directory,
                env=environment | {"LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


def tell_all(server: subprocess.Popen[bytes], number: signal.Signals) -> int:
    """A signal for the server and its backends; it stands still meanwhile, so that none is born unseen."""
    if server.poll() is not None:
        return 0
    server.send_signal(signal.SIGSTOP)
    backends = children_of(server.pid)
    server.send_signal(number)
    for pid in backends:
        with suppress(ProcessLookupError):  # gone already, of its own accord or with the server
            os.kill(pid, number)
    return 1 + len(backends)


def is_ready(pid_file: Path, pid: int) -> bool:
    """The eighth line of postmaster.pid says so; a file left by an earlier, killed server names another pid."""
    try:
        lines = pid_file.read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def children_of(pid: int) -> list[int]:
    """The direct children of a process; PostgreSQL's backends have sessions of their own, so no group reaches them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = entry.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(after_name[1]) == pid:
            found.append(int(entry.parent.name))
    return found


def forget_shared_memory(pid_file: Path) -> None:
    """A killed server leaves its System V segment in the kernel; the seventh line of its pid file names it."""
    try:
        lines = pid_file.read_text().splitlines()
    except FileNotFoundError:
        return
    if len(lines) >= 7 and shutil.which("ipcrm"):
        subprocess.run(["ipcrm", "-m", lines[6].split()[1]], check=False, capture_output=True)


def main(directory: str, remove: str) -> None:
    keeper = Keeper(Path(directory))
    try:
        for line in sys.stdin:
            answer = keeper.obey(json.loads(line))
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        # The test process died while we worked for it. Python would try to flush once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        keeper.end(signal.SIGQUIT)
        forget_shared_memory(Path(directory, "data", "postmaster.pid"))
        if remove == "remove":
            shutil.rmtree(directory)


if __name__ == "__main__":
    main(*sys.argv[1:])
