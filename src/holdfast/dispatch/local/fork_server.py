"""The fork server: a process forked before any ledger is open, with everything loaded. Each worker is a fork of it.
A fork takes milliseconds; a start of Python takes a third of a second.

SQLite keeps its locks per process in memory that a fork copies, so a process with an open ledger must not fork. This
one never opens a ledger. It dies with the command, and its workers die with it. If it stops answering (SIGSTOP), it is
killed; another cannot be forked while the ledger is open, so the command winds up and ends.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Never, Self

import msgspec

from holdfast.clock import pause_thread
from holdfast.config import Settings
from holdfast.dispatch.crashes import Unexpected
from holdfast.dispatch.local import worker_process
from holdfast.errors import HoldfastError

PR_SET_PDEATHSIG = 1
FROM_THE_TERMINAL = (signal.SIGINT, signal.SIGHUP)  # sent to all processes of a group: the supervisor decides
FORK, REAP, LIVES = b"bear", b"reap", b"lives"
MESSAGE_BYTES = 64
WAIT_S = 0.25
WAITS_MAX = 40  # ten seconds: it only forks and looks
BEGINNING_WAITS_MAX = 2400  # ten minutes: what it loads first may take long to import
LOOK_AGAIN_S = 0.01


class ForkedWorker(msgspec.Struct, frozen=True):
    """A worker process and our ends of its pipes: one for its assignment, one for its messages, and one for what its
    code prints, which must not be mistaken for messages."""

    pid: int
    assignment_pipe: int
    message_pipe: int
    output_pipe: int


class ForkServer:
    """Started by a command before it opens its ledger; the user asked for `size` workers, for a job of this `recipe`.

    `private`: descriptors of the command that no worker, and no program that a recipe starts, may keep open.
    """

    def __init__(self, size: int, settings: Settings, *, recipe: str = "", private: Sequence[int] = ()) -> None:
        self.size = size
        self.is_gone = False
        self._waits_max = BEGINNING_WAITS_MAX
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a process started with it ignored cannot wait for a child
        self._pid = os.fork()
        if self._pid == 0:
            self._socket.close()
            for descriptor in private:
                os.close(descriptor)
            _never_return(lambda: _serve(theirs, parent, settings, recipe))
        theirs.close()

    def fork(self) -> ForkedWorker:
        """One more worker process."""
        assignment_pipe, message_pipe, output_pipe = os.pipe(), os.pipe(), os.pipe()
        theirs = [assignment_pipe[0], message_pipe[1], output_pipe[1]]
        try:
            answer = self._answer(FORK, theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        if answer is None:
            for descriptor in (assignment_pipe[1], message_pipe[0], output_pipe[0]):
                os.close(descriptor)
            raise fork_server_gone()
        return ForkedWorker(int(answer), assignment_pipe[1], message_pipe[0], output_pipe[0])

    def reap(self, pid: int) -> int:
        """Wait for the end of a worker; its exit code, or minus the signal it died of. Its pid is free only now.

        If the fork server is gone, the worker died with it and its exit code is unknown.
        """
        while (answer := self._answer(REAP + b" %d" % pid)) == LIVES:
            pause_thread(LOOK_AGAIN_S)
        return -signal.SIGKILL if answer is None else int(answer)

    def _answer(self, message: bytes, descriptors: Sequence[int] = ()) -> bytes | None:
        """None: the fork server is gone, or was ended just now."""
        if self.is_gone:
            return None
        answer = b""
        with suppress(ConnectionError):
            socket.send_fds(self._socket, [message], descriptors)
            answer = self._socket.recv(MESSAGE_BYTES) if self._is_heard() else b""
        self._waits_max = WAITS_MAX
        if not answer:
            self._end()
        return answer or None

    def _is_heard(self) -> bool:
        """Judged by waits, not by a clock: a sleep of the computer, or of all of us, is one wait, however long."""
        return any(select.select([self._socket], [], [], WAIT_S)[0] for _ in range(self._waits_max))

    def _end(self) -> None:
        """Killed, because one that is stopped ends by nothing else. It has nothing to lose."""
        if not self.is_gone:
            self.is_gone = True
            self._socket.close()
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()


def fork_server_gone() -> Unexpected:
    return Unexpected(
        "The process that worker processes are forked from is gone or does not answer, and they are gone with it. "
        "Nothing that was saved is lost; the same command goes on"
    )


def tie_to(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """From now on the kernel kills this process when its parent dies, whatever of; if it has died already, we follow.
    The parent is the thread that started us.

    A thread or a pipe that notices the end would not do: a stopped or busy process notices nothing.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _serve(theirs: socket.socket, parent: int, settings: Settings, recipe: str) -> int:
    """Fork and reap until the command closes its end."""
    tie_to(parent)
    for number in FROM_THE_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until a worker has its handler
    _warm_up(settings, recipe)
    while True:
        message, descriptors, _, _ = socket.recv_fds(theirs, MESSAGE_BYTES, 3)
        if not message:
            return 0
        theirs.send(b"%d" % _forked(theirs, descriptors) if message == FORK else _seen(int(message.split()[1])))


def _warm_up(settings: Settings, recipe: str) -> None:
    """Load what every worker needs. What cannot be loaded is each worker's own failure, said in its own words."""
    from holdfast import wiring

    try:
        wiring.load_adapters(settings, recipe)
    except (ImportError, HoldfastError):
        return


def _forked(theirs: socket.socket, descriptors: list[int]) -> int:
    assignment_pipe, message_pipe, output_pipe = descriptors
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        theirs.close()
        _never_return(lambda: _live(assignment_pipe, message_pipe, output_pipe, parent))
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _seen(worker: int) -> bytes:
    """Never waits: the caller must be able to tell a fork server that hangs from a worker that lives."""
    pid, status = os.waitpid(worker, os.WNOHANG)
    return b"%d" % os.waitstatus_to_exitcode(status) if pid else LIVES


def _live(assignment_pipe: int, message_pipe: int, output_pipe: int, parent: int) -> int:
    tie_to(parent)
    for number in (1, 2):
        os.dup2(output_pipe, number)
    os.close(output_pipe)
    os.set_inheritable(message_pipe, False)  # a program that a recipe starts and leaves behind must not look like us
    return worker_process.main(assignment_pipe, message_pipe)


def _never_return(body: Callable[[], int]) -> Never:
    """A fork ends here: it must not run on into the command's own code, nor write what that has in its buffers."""
    code = 1
    try:
        code = body()
    finally:
        os._exit(code)
