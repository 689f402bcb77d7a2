"""One `holdfast` command as a child process: started as a user would, killed as no user should.

What it says goes to files, so that nothing blocks while nobody reads. It never outlives its `with` block.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PROGRAM = (sys.executable, "-m", "holdfast")
POLL_S = 0.002
REAP_S_MAX = 10.0
WORDS_SHOWN = 2000


class Command:
    """From exec on; `began_ns` is that moment, on the clock of the worlds' logs.

        with Command(["crawl", url, "--data", "d"], said=folder / "first") as crawl:
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


def now_ns() -> int:
    """CLOCK_MONOTONIC, as the worlds' logs have it."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
