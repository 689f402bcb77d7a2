"""A process that has imported the program once and forks a fresh `holdfast` per order: a start without its half second.

A child runs the real `main` on the words it was given and ends like any process. It may stop itself before its first
step, so that a tracer can attach, and may tell at its end how often it passed each fault point. The fork server itself
never opens a ledger, and no child outlives it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.demo.command import POLL_S, WORDS_SHOWN, now_ns
from waiting import wait_until

PARTS = (
    "cli",
    "dispatch",
    "control",
    "views",
    "config",
    "engine",
    "ledger",
    "fetch",
    "blobs",
    "recipe",
    "recipes",
    "audit",
)
START_S_MAX = 30.0
STOPPED = "T"
PR_SET_PTRACER, ANYBODY = 0x59616D61, 2**64 - 1


class ForkServer:
    """`start` gives a child; all that still run at the end are killed."""

    def __init__(self) -> None:
        path = os.pathsep.join(sys.path)
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "forked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        self._one_at_a_time = threading.Lock()

    def start(
        self,
        words: Sequence[str],
        *,
        said: Path,
        environ: Mapping[str, str] | None = None,
        stopped: bool = False,
        cwd: Path | None = None,
    ) -> Child:
        """`said` as in Command; `stopped`: it waits, before its first step, for SIGCONT."""
        order = {"do": "start", "words": list(words), "said": str(said), "environ": dict(environ or {})}
        order["cwd"] = str(cwd or Path.cwd())
        for name, _ in _files(str(said)):  # a child may die before it has made them
            Path(name).touch()
        began_ns = now_ns()
        child = Child(self, int(self.ask(order | {"stopped": stopped})), said, began_ns)
        if stopped:
            wait_until(lambda: _state(child.pid) == STOPPED, START_S_MAX, "a child that stopped itself")
        return child

    def ask(self, order: Mapping[str, Any]) -> Any:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        with self._one_at_a_time:
            self._keeper.stdin.write(json.dumps(order).encode() + b"\n")
            self._keeper.stdin.flush()
            answer = self._keeper.stdout.readline()
        if not answer:
            raise RuntimeError(f"the nursery ended with {self._keeper.wait()}; its error stands above")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._keeper:  # closes its orders: it kills what is left, and ends
            pass


class Child:
    """One forked `holdfast`; to be used like `holdfast.demo.command.ChildCommand`."""

    def __init__(self, fork_server: ForkServer, pid: int, said: Path, began_ns: int) -> None:
        self.pid, self.began_ns = pid, began_ns
        self._fork_server, self._said = fork_server, said
        self._code: int | None = None

    @property
    def code(self) -> int | None:
        if self._code is None:
            self._code = self._fork_server.ask({"do": "poll", "pid": self.pid})
        return self._code

    @property
    def out(self) -> str:
        return Path(f"{self._said}.out").read_text(errors="replace")

    @property
    def err(self) -> str:
        return Path(f"{self._said}.err").read_text(errors="replace")

    @property
    def hits(self) -> dict[str, int]:
        """How often it passed each fault point; only where one was armed and it came to its own end."""
        counts: dict[str, int] = json.loads(Path(f"{self._said}.hits").read_text())
        return counts

    def send(self, number: signal.Signals) -> None:
        if self.code is None:
            os.kill(self.pid, number)

    def kill(self) -> bool:
        self.send(signal.SIGKILL)
        return self.wait(START_S_MAX) == -signal.SIGKILL

    def wait(self, seconds: float) -> int:
        self.wait_for(lambda: False, seconds=seconds)
        assert self.code is not None
        return self.code

    def wait_for(self, holds: Callable[[], bool], *, seconds: float) -> None:
        give_up_ns = now_ns() + round(seconds * 1e9)
        while not holds() and self.code is None:
            if now_ns() >= give_up_ns:
                self.send(signal.SIGKILL)
                raise TimeoutError(f"nothing came in {seconds:g} s: {self._said.name}\n{self.err[-WORDS_SHOWN:]}")
            time.sleep(POLL_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.code is None:
            self.kill()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _keep() -> None:
    """The fork server's own loop: one order per line, one answer per line, until nobody orders any more."""
    _import_everything()
    gc.freeze()  # else each child walks, and so copies, everything that was imported, at its end: 70 ms
    ended: dict[int, int | None] = {}
    for line in sys.stdin.buffer:
        order = json.loads(line)
        if order["do"] == "start":
            answer: int | None = os.fork()
            if answer == 0:
                _become(order)
            ended[answer or 0] = None
        else:
            answer = ended[order["pid"]] = _poll(order["pid"], ended)
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
    for pid in [pid for pid, code in ended.items() if code is None]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _import_everything() -> None:
    for part in PARTS:
        package = import_module(f"holdfast.{part}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def _poll(pid: int, ended: Mapping[int, int | None]) -> int | None:
    if ended[pid] is not None:
        return ended[pid]
    gone, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if gone else None


def _become(order: Mapping[str, Any]) -> None:
    """In the child: from here on it is an ordinary `holdfast`, with nothing left of the fork server."""
    from holdfast import faults
    from holdfast.cli.main import main

    os.setsid()
    os.chdir(order["cwd"])
    sys.path[0] = order["cwd"]  # as `python -m` has it
    for number, (name, mode) in enumerate([("/dev/null", os.O_RDONLY), *_files(order["said"])]):
        descriptor = os.open(name, mode, 0o644)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = open(0)  # noqa: SIM115 - lives as long as the process
    for name in [name for name in os.environ if name.startswith("HOLDFAST_")]:
        del os.environ[name]
    os.environ.update(order["environ"])
    faults.arm(order["environ"].get("HOLDFAST_FAULT", ""))
    if order["stopped"]:
        ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(ANYBODY))  # else only our parents could trace us
        os.kill(os.getpid(), signal.SIGSTOP)
    code = main(order["words"])
    if faults.hits:
        Path(f"{order['said']}.hits").write_text(json.dumps(faults.hits))
    raise SystemExit(code)


def _files(said: str) -> list[tuple[str, int]]:
    return [(f"{said}.{suffix}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for suffix in ("out", "err")]


if __name__ == "__main__":
    _keep()
