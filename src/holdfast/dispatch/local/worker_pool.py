"""The worker processes of one job on this computer: started, listened to, replaced when they die, told to go.

It knows processes and nothing of the ledger. Each place in the pool has one process at a time.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from holdfast.clock import Clock
from holdfast.dispatch.local.fork_server import ForkServer
from holdfast.dispatch.local.messages import Assignment, Drained, FinalReport, Message, PlanRaised, Ready, messages_in

QUICK_MS = 1_000
IDLE_DEATHS_MAX = 8  # at one place, with no page in hand
DEATHS_MAX = 64  # of all; a page that kills its worker dies of poison after four
REST_FIRST_MS = 100
REST_MAX_MS = 5_000
READ_BYTES = 1 << 16
PRINTED_MAX = 1 << 20


@dataclass(slots=True)
class WorkerProcess:
    """One process at its place."""

    place: int
    pid: int
    message_pipe: int
    output_pipe: int
    end: int | None  # readable once it is dead; None where the system has no such thing
    ready_ms: int | None = None  # since when it is at work
    begun: bytes = b""  # of a message that is not complete yet
    printed: bytes = b""
    plan_failed: str = ""  # what the plan raised that it works
    final_report: FinalReport | None = None
    output_closed: bool = False  # it may still live
    messages_closed: bool = False  # likewise


class ExitedProcess(msgspec.Struct, frozen=True):
    """A process that has ended: with a final report, or killed. `others` is what its code printed last."""

    place: int
    pid: int
    code: int
    final_report: FinalReport | None
    others: str

    @property
    def of(self) -> str:
        """What it died of, in words."""
        return f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


@dataclass(slots=True)
class WorkerPool:
    """`assignment_of` gives the assignment of the process at a place; it is called for every start."""

    fork_server: ForkServer
    assignment_of: Callable[[int], Assignment]
    clock: Clock
    processes: dict[int, WorkerProcess] = field(default_factory=dict)
    _due_ms: dict[int, int] = field(default_factory=dict)  # empty places, and when each is filled
    _drained: bool = False
    _quick: dict[int, int] = field(default_factory=dict)  # deaths in a row soon after the start
    _idle: dict[int, int] = field(default_factory=dict)  # deaths with no page in hand, since the job last got on
    _deaths: int = 0  # all of them, since then

    def start(self) -> None:
        """All places are due."""
        self._due_ms = dict.fromkeys(range(self.fork_server.size), self.clock.monotonic_ms())

    def tend(self, seconds: float) -> list[ExitedProcess]:
        """Fill places that are due, then wait at most that long for messages; answers which processes have ended."""
        self._fill()
        everybody = list(self.processes.values())
        output_pipes = [process.output_pipe for process in everybody if not process.output_closed]
        message_pipes = [process.message_pipe for process in everybody if not process.messages_closed]
        ends = [process.end for process in everybody if process.end is not None]
        ready = set(select.select([*output_pipes, *message_pipes, *ends], [], [], seconds)[0])
        for process in everybody:
            if process.output_pipe in ready:
                _read_output(process)
            if process.message_pipe in ready:
                self._read_messages(process)
        return [self._reap(process) for process in everybody if _has_ended(process, ready)]

    def pids(self) -> set[int]:
        return {process.pid for process in self.processes.values()}

    def has_drained(self) -> bool:
        """Whether a worker has run out of work since the last call."""
        drained, self._drained = self._drained, False
        return drained

    def refill(self, exited: ExitedProcess, *, held: int) -> bool:
        """Have the place filled again, after a rest that grows with quick deaths; False: there were too many.

        Deaths are counted since the job last made progress. A worker that held pages leaves them as suspects, which is
        progress; one that keeps dying with nothing in hand would do so for ever.
        """
        self._deaths += 1
        if not held:
            self._idle[exited.place] = self._idle.get(exited.place, 0) + 1
        if self._idle.get(exited.place, 0) >= IDLE_DEATHS_MAX or self._deaths >= DEATHS_MAX:
            return False
        deaths = self._quick.get(exited.place, 0)
        rest_ms = 0 if deaths <= 1 else min(REST_MAX_MS, REST_FIRST_MS << (deaths - 2))
        self._due_ms[exited.place] = self.clock.monotonic_ms() + rest_ms
        return True

    def got_on(self) -> None:
        """Pages were done or found: despite its deaths the pool makes progress."""
        self._idle.clear()
        self._quick.clear()
        self._deaths = 0

    def dismiss(self) -> None:
        """Every worker finishes what is in hand and ends; none is replaced any more."""
        self._due_ms.clear()
        for process in self.processes.values():
            _send(process, signal.SIGTERM)

    def kill(self, pid: int | None = None) -> None:
        """kill -9 for all, or for one."""
        for process in self.processes.values():
            if pid in (None, process.pid):
                _send(process, signal.SIGKILL)

    def close(self) -> None:
        """Whatever happened, no process is left behind."""
        self.kill()
        for process in list(self.processes.values()):
            self._reap(process)

    def _fill(self) -> None:
        now = self.clock.monotonic_ms()
        for place in [place for place, due_ms in self._due_ms.items() if due_ms <= now]:
            del self._due_ms[place]
            self.processes[place] = self._spawn(place)

    def _spawn(self, place: int) -> WorkerProcess:
        forked = self.fork_server.fork()
        text = msgspec.json.encode(self.assignment_of(place))
        try:
            while text:
                text = text[os.write(forked.assignment_pipe, text) :]
        except BrokenPipeError:
            pass  # it died before it could read: the next look finds it
        finally:
            os.close(forked.assignment_pipe)
        os.set_blocking(forked.output_pipe, False)
        os.set_blocking(forked.message_pipe, False)
        return WorkerProcess(place, forked.pid, forked.message_pipe, forked.output_pipe, _end_of(forked.pid))

    def _read_messages(self, process: WorkerProcess) -> None:
        """Read all messages that it has sent."""
        with suppress(BlockingIOError):
            while part := os.read(process.message_pipe, READ_BYTES):
                messages, process.begun = messages_in(process.begun + part)
                self._handle(process, messages)
            process.messages_closed = True

    def _handle(self, process: WorkerProcess, messages: list[Message]) -> None:
        for message in messages:
            match message:
                case Ready():
                    process.ready_ms = self.clock.monotonic_ms()
                case Drained():
                    self._drained = True
                case PlanRaised(why):
                    process.plan_failed = why
                case FinalReport():
                    process.final_report = message

    def _reap(self, process: WorkerProcess) -> ExitedProcess:
        del self.processes[process.place]
        self._read_messages(process)
        _read_output(process)
        for descriptor in (process.message_pipe, process.output_pipe, process.end):
            if descriptor is not None:
                os.close(descriptor)
        code = self.fork_server.reap(process.pid)
        quick = process.ready_ms is None or self.clock.monotonic_ms() - process.ready_ms < QUICK_MS
        self._quick[process.place] = self._quick.get(process.place, 0) + 1 if quick else 0
        others = process.printed.decode(errors="replace").strip()
        return ExitedProcess(process.place, process.pid, code, process.final_report, others)


def _end_of(pid: int) -> int | None:
    """What becomes readable when the process ends. The end of its message pipe says less: a process that its code has
    forked keeps that open, and its code may close it."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(process: WorkerProcess, ready: set[int]) -> bool:
    return process.messages_closed if process.end is None else process.end in ready


def _send(process: WorkerProcess, number: signal.Signals) -> None:
    """No process is reaped before we ask for it, so the pid is still its own. Only when the fork server dies do all of
    them vanish; then a pid may soon belong to another process, but a pidfd cannot."""
    with suppress(ProcessLookupError):
        if process.end is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(process.end, number)


def _read_output(process: WorkerProcess) -> None:
    """Read all that it has printed. A program that its code left behind may keep the pipe open for ever."""
    with suppress(BlockingIOError):
        while part := os.read(process.output_pipe, READ_BYTES):
            process.printed = (process.printed + part)[-PRINTED_MAX:]
        process.output_closed = True
