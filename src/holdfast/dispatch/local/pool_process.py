"""A worker pool for a program that must not fork, because it may have threads, or a ledger open: a process of its own
supervises the pool, and this one looks on. Nothing about the job is on its command line or in its environment.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from holdfast.config import Settings
from holdfast.dispatch.crashes import Unexpected
from holdfast.dispatch.local.messages import settings_sent
from holdfast.dispatch.local.pool_messages import (
    Order,
    PoolAssignment,
    PoolEnd,
    PoolMessage,
    PoolProgress,
    Said,
    Why,
    pool_line,
    pool_messages_in,
)
from holdfast.model.job import Job
from holdfast.model.lease import Rescued
from holdfast.model.spread import Spread
from holdfast.ports import ProgressListener, SessionEnd

COMMAND = (sys.executable, "-m", "holdfast.dispatch.local.supervisor_process")
READ_BYTES = 1 << 16
PRINTED_MAX = 4_000
WAIT_S = 0.5


class PoolProcess:
    """Fulfils ports.Runner. `run` starts the process: it dies with the thread that has called it."""

    stands_still = False
    lock_waits: Spread | None = None

    def __init__(
        self,
        settings: Settings,
        job: Job,
        processes: int,
        *,
        progress: ProgressListener,
        say: Callable[[str], None],
        trigger: str,
    ) -> None:
        self._assignment = PoolAssignment(
            parent=os.getpid(), job=job, processes=processes, trigger=trigger, settings=settings_sent(settings)
        )
        self._progress, self._say = progress, say
        self._lock = threading.RLock()  # a signal handler may interrupt this very thread
        self._why: Why | None = None
        self._order_pipe: int | None = None  # while the process lives
        self._begun = b""  # of a message that is not complete yet
        self._printed = b""
        self._end: PoolEnd | None = None
        self.rescued: Rescued | None = None
        self.not_saved = 0
        self.waiting = ""

    def interrupt(self, why: str) -> None:
        """The first order counts, as for every runner."""
        with self._lock:
            if self._why is None:
                self._why = "pause" if why == "pause" else "drain"
                self._order(self._why)

    def run(self) -> SessionEnd:
        (orders, order_pipe), (message_pipe, messages) = os.pipe(), os.pipe()
        try:
            try:
                child = _started(orders, messages)
            finally:
                os.close(orders)
                os.close(messages)
            self._supervised(child, order_pipe, message_pipe)
        finally:
            with self._lock:
                self._order_pipe = None
            os.close(order_pipe)
            os.close(message_pipe)
        return self._ended(child.returncode)

    def _supervised(self, child: subprocess.Popen[bytes], order_pipe: int, message_pipe: int) -> None:
        with child:
            try:
                with self._lock:
                    self._order_pipe = order_pipe
                    self._send(pool_line(self._assignment))
                    if self._why is not None:
                        self._order(self._why)
                self._listen(child, message_pipe)
            except BaseException:
                child.terminate()
                raise

    def _ended(self, code: int) -> SessionEnd:
        if self._end is None:
            raise _died(code, self._printed)
        if self._end.failure is not None:
            raise self._end.failure.error()
        assert self._end.end is not None
        self.rescued, self.not_saved = self._end.rescued, self._end.not_saved
        return self._end.end

    def _order(self, why: Why) -> None:
        self._send(pool_line(Order(why)))

    def _send(self, line: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended, which says more than the order
            while line and self._order_pipe is not None:
                line = line[os.write(self._order_pipe, line) :]

    def _listen(self, child: subprocess.Popen[bytes], message_pipe: int) -> None:
        """Until it has said its last word, or died. A process that a recipe left behind may keep the pipes open."""
        assert child.stderr is not None
        with selectors.DefaultSelector() as pipes:  # `select` knows no descriptors beyond 1023
            pipes.register(message_pipe, selectors.EVENT_READ, self._hear)
            pipes.register(child.stderr, selectors.EVENT_READ, self._keep_printed)
            while self._end is None and pipes.get_map():
                ready = pipes.select(WAIT_S)
                for key, _ in ready:
                    part = os.read(key.fd, READ_BYTES)
                    if part:
                        key.data(part)
                    else:
                        pipes.unregister(key.fileobj)
                if not ready and child.poll() is not None:
                    return

    def _keep_printed(self, part: bytes) -> None:
        self._printed = (self._printed + part)[-PRINTED_MAX:]

    def _hear(self, part: bytes) -> None:
        messages, self._begun = pool_messages_in(self._begun + part)
        for message in messages:
            self._handle(message)

    def _handle(self, message: PoolMessage) -> None:
        match message:
            case PoolProgress():
                self.waiting, self.rescued = message.waiting, message.rescued
                job = replace(message.job, params=self._assignment.job.params)
                self._progress(job, message.counts, message.in_flight, message.checkpoint)
            case Said(words):
                self._say(words)
            case PoolEnd():
                self._end = message


def _started(orders: int, messages: int) -> subprocess.Popen[bytes]:
    """In a session of its own: a Ctrl-C at the terminal is passed on once, by the program."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [*COMMAND, str(orders), str(messages)],
        stdin=nothing,
        stdout=nothing,
        stderr=subprocess.PIPE,
        pass_fds=(orders, messages),
        start_new_session=True,
    )


def _died(code: int, printed: bytes) -> Unexpected:
    of = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Unexpected(
        f"The process that supervises the workers died of {of}. Nothing that was saved is lost; the same call goes on",
        hint=printed.decode(errors="replace").strip(),
    )
