"""A process of our own that works strangers' bytes: bounded in memory, replaced when it dies, never left behind.

The child is a module of this package, reads requests from its stdin and ends with it, so it does not outlive its parent
however that ends. A message is four bytes of length, then that many bytes; EOFError means that no more come.
"""

from __future__ import annotations

import errno
import resource
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from holdfast.cores import every_core
from holdfast.errors import FetchError

LENGTH_BYTES = 4
OUT_OF_TIME = -signal.SIGPROF  # how a child ends that has used up its processor time
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})


class CannotStart(FetchError):
    """No process for a file or a page: not its fault, so a step that raises it gives its target back.

    `passes`: our computer is short of descriptors, memory or processes, and a later one may start.
    """

    def __init__(self, reason: str, *, passes: bool) -> None:
        super().__init__("no_resources", f"no process could be started: {reason}")
        self.passes = passes


class ChildProcess:
    """At most one child, started when its pipes are first asked for. Not for several threads."""

    def __init__(self, *arguments: str) -> None:
        """`arguments` of Python: `-P`, so that nothing of the current folder is imported, `-m`, and the module."""
        self._arguments = arguments
        self._held: list[subprocess.Popen[bytes]] = []  # a list, so that the finalizer sees its change
        weakref.finalize(self, _end, self._held)

    @property
    def pid(self) -> int | None:
        return self._held[0].pid if self._held else None

    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Its stdin and stdout; or CannotStart."""
        if not self._held:
            self._held.append(_started(self._arguments))
        child = self._held[0]
        assert child.stdin is not None
        assert child.stdout is not None
        return child.stdin, child.stdout

    def kill(self) -> None:
        """From any thread; a caller that waits for its answer gets EOFError."""
        for child in tuple(self._held):
            child.kill()

    def end(self, patience_s: float = 0.0) -> int | None:
        """The child is gone afterwards. Gives its exit code: its own, where it ends by itself within `patience_s`."""
        return _end(self._held, patience_s)


def _started(arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise CannotStart("where Python is, is not known", passes=False)
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL  # stderr: what C libraries write there is for nobody
    try:
        with every_core():
            return subprocess.Popen([sys.executable, *arguments], stdin=pipe, stdout=pipe, stderr=nothing)
    except OSError as error:
        raise CannotStart(error.strerror or str(error), passes=error.errno in SHORTAGES) from error


def _end(held: list[subprocess.Popen[bytes]], patience_s: float = 0.0) -> int | None:
    code = None
    while held:
        child = held.pop()
        if patience_s:
            with suppress(OSError, subprocess.TimeoutExpired):
                child.wait(timeout=patience_s)
        child.kill()
        with suppress(OSError, ValueError):  # of what a dead child did not read
            child.communicate()
        code = child.returncode
    return code


def write_message(out: IO[bytes], message: bytes) -> None:
    out.write(len(message).to_bytes(LENGTH_BYTES, "big"))
    out.write(message)
    out.flush()


def read_message(source: IO[bytes]) -> bytes:
    """The next message, whole; half of one counts as none."""
    length = source.read(LENGTH_BYTES)
    message = source.read(int.from_bytes(length, "big"))
    if len(length) < LENGTH_BYTES or len(message) < int.from_bytes(length, "big"):
        raise EOFError
    return message


def run_child(serve: Callable[[IO[bytes], IO[bytes]], None], memory_bytes: int) -> None:
    """The life of a child. A job that is told to stop still needs answers for what it has in hand."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    limit_memory(memory_bytes)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)


def limit_time(cpu_s: float) -> None:
    """So much processor time of this process from now on, and then SIGPROF ends it, which nothing in C can put off."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)


def limit_memory(memory_bytes: int) -> None:
    """Of addresses, in this process: what wants more gets MemoryError. It leaves no core file."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    room = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
