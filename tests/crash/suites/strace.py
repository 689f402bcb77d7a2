"""strace on one process that waits stopped: counts its system calls, or spoils one of them, and shows that it did.

It attaches to a process that has done nothing yet, so that counting begins with its first own call. `when=n` counts
per thread: with `threads=False` only the main thread is followed, and every n of it can be reached.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forked import Child
from servers import cannot_run, need_tool
from waiting import wait_until

ATTACH_S_MAX = 20.0
INJECTED = "(INJECTED)"
KILLED = "+++ killed by SIGKILL +++"
UNANSWERED = ("= ?", "<unfinished ...>")
_CALL = re.compile(r"^(?:(\d+) +)?(\w+)\(")  # without -f there is no thread's number


@dataclass(frozen=True)
class Injection:
    """The n-th call of this name in a thread is spoiled; `what` as strace spells it: `signal=SIGKILL`, `error=EIO`."""

    call: str
    n: int
    what: str
    lasting: bool = False
    upto: int | None = None  # the last one that is spoiled, where it lasts but not for ever

    @property
    def words(self) -> str:
        last = "" if self.upto is None else f"..{self.upto}"
        return f"{self.call}:{self.what}:when={self.n}{f'{last}+' if self.lasting else ''}"


class Trace:
    """strace attached to a stopped child, which goes on as soon as it is watched. `lines` is what was seen so far."""

    def __init__(
        self,
        child: Child,
        path: Path,
        calls: Sequence[str],
        injection: Injection | None = None,
        *,
        threads: bool = True,
    ) -> None:
        self._path, self._pid = path, child.pid
        words = [
            need_tool("strace"),
            "-qq",
            "-y",
            "-o",
            str(path),
            "-p",
            str(child.pid),
            "-e",
            f"trace={','.join(calls)}",
        ]
        words += ["-f"] if threads else []
        words += ["-e", f"inject={injection.words}"] if injection else []
        self._tracer = subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True)
        wait_until(lambda: self._is_attached() or self._tracer.poll() is not None, ATTACH_S_MAX, "strace attached")
        if self._tracer.poll() is not None:
            cannot_run(f"strace does not work here: {self._tracer.communicate()[1].decode(errors='replace').strip()}")
        os.kill(child.pid, signal.SIGCONT)

    def _is_attached(self) -> bool:
        status = Path(f"/proc/{self._pid}/status").read_text()
        return f"TracerPid:\t{self._tracer.pid}\n" in status

    def ended(self) -> list[str]:
        """The whole trace, once its process is gone; a tracer that failed is an error and no empty trace."""
        _, said = self._tracer.communicate(timeout=ATTACH_S_MAX)
        lines = self._path.read_text(errors="replace").splitlines()
        assert lines, f"strace saw nothing: {said.decode(errors='replace')}"
        return lines


def counts(lines: Sequence[str]) -> Counter[str]:
    """How often the busiest thread made each call: as far as `when=n` reaches."""
    by_thread = Counter((found[1], found[2]) for line in lines if (found := _CALL.match(line)))
    most: Counter[str] = Counter()
    for (_, call), n in by_thread.items():
        most[call] = max(most[call], n)
    return most


def was_killed_at(lines: Sequence[str], call: str) -> bool:
    """The trace shows the call that never came back, and what its process died of."""
    asked = any(f"{call}(" in line and line.endswith(UNANSWERED) for line in lines)
    return asked and any(KILLED in line for line in lines)


def injected(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if INJECTED in line]
