"""One `holdfast` command as a child process: started as a user would, killed as no user should.

What it says goes to files, so that nothing blocks while nobody reads. Neither it nor a worker process of it outlives
its `with` block.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PROGRAM = (sys.executable, "-m", "holdfast")
POLL_S = 0.002
REAP_S_MAX = 10.0
WORDS_SHOWN = 2000


class ChildCommand:
    """From exec on; `began_ns` is that moment, on the clock of the worlds' logs.

        with ChildCommand(["crawl", url, "--data", "d"], said=folder / "first") as crawl:
            crawl.wait(seconds=60)

    The user's own `HOLDFAST_*` settings do not reach it: it works on what its words name, and on nobody's ledger.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        said: Path,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._out, self._err = Path(f"{said}.out"), Path(f"{said}.err")
        own = {name: text for name, text in os.environ.items() if not name.startswith("HOLDFAST_")}
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.began_ns = now_ns()
            # A session of its own: Ctrl-C at the terminal reaches us, and we decide what becomes of the child.
            self._child = subprocess.Popen(
                [*PROGRAM, *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=own | dict(environ or {}),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def code(self) -> int | None:
        """The exit code, `-9` after SIGKILL; None while it runs."""
        return self._child.poll()

    @property
    def out(self) -> str:
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        return self._err.read_text(errors="replace")

    def send(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def kill(self) -> bool:
        """kill -9. True only where it was alive and that is what it died of; afterwards it is gone for certain."""
        self._child.kill()
        return self._child.wait(REAP_S_MAX) == -signal.SIGKILL

    def kill_all(self) -> bool:
        """kill -9 for the command and its worker processes at once; all of them are gone afterwards."""
        os.killpg(self.pid, signal.SIGKILL)  # the session that was made for it
        killed = self._child.wait(REAP_S_MAX) == -signal.SIGKILL
        return killed and self._is_gone_with_all_of_it()

    def workers(self) -> list[int]:
        """The pids of its worker processes that live: its children's children, see dispatch/local/fork_server.py."""
        parents = {pid: parent for pid, parent, _ in living()}
        return [pid for pid, parent in parents.items() if parents.get(parent) == self.pid]

    def wait(self, seconds: float) -> int:
        """The exit code; one that takes longer is killed, and that is an error."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"no end after {seconds:g} s: {self._child.args!r}\n{self.err[-WORDS_SHOWN:]}") from None

    def wait_for(self, holds: Callable[[], bool], *, seconds: float) -> None:
        """Until that holds or the command has ended by itself, whichever is first."""
        give_up_ns = now_ns() + round(seconds * 1e9)
        while not holds() and self.code is None:
            if now_ns() >= give_up_ns:
                raise TimeoutError(f"nothing came in {seconds:g} s: {self._child.args!r}\n{self.err[-WORDS_SHOWN:]}")
            time.sleep(POLL_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._child.poll() is None:
            self.kill()
        if not self._is_gone_with_all_of_it() and error is None:
            raise RuntimeError(f"a process of it lives on: {self._child.args!r}\n{self.err[-WORDS_SHOWN:]}")

    def _is_gone_with_all_of_it(self) -> bool:
        """Its workers die with it, by themselves and a moment later: until then they still ask a world for pages."""
        return _soon(lambda: not any(group == self.pid for _, _, group in living()))


def living() -> Iterator[tuple[int, int, int]]:
    """(pid, parent, group) of every process of this computer that lives; a zombie does not."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent, group, *_ = text.rpartition(")")[2].split()
        if state not in "ZX":
            yield int(pid), int(parent), int(group)


def is_gone_soon(pid: int) -> bool:
    """Whether a process that was killed, and is not ours to wait for, is gone in a while."""
    return _soon(lambda: not any(other == pid for other, _, _ in living()))


def _soon(holds: Callable[[], bool]) -> bool:
    give_up_ns = now_ns() + round(REAP_S_MAX * 1e9)
    while not (held := holds()) and now_ns() < give_up_ns:
        time.sleep(POLL_S)
    return held


def now_ns() -> int:
    """CLOCK_MONOTONIC, as the worlds' logs have it."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
