"""The worker processes of one job on this computer: started, listened to, replaced when they die, told to go.

It knows processes and nothing of the ledger. Each place of a crew has one process at a time.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from holdfast.cli.nursery import Nursery
from holdfast.cli.posts import Drained, Farewell, PlanFailed, Post, Ready, Word, words_in
from holdfast.clock import Clock

QUICK_MS = 1_000
IDLE_DEATHS_MAX = 8  # at one place, with no page in hand
DEATHS_MAX = 64  # of all; a page that kills its worker dies of poison after four
REST_FIRST_MS = 100
REST_MAX_MS = 5_000
READ_BYTES = 1 << 16
PRINTED_MAX = 1 << 20


@dataclass(slots=True)
class Member:
    """One process at its place."""

    place: int
    pid: int
    wire: int
    mouth: int
    end: int | None  # readable once it is dead; None where the system has no such thing
    ready_ms: int | None = None  # since when it is at work
    begun: bytes = b""  # a word that has not come whole yet
    printed: bytes = b""
    plan_failed: str = ""  # what the plan raised that it works
    farewell: Farewell | None = None
    is_silent: bool = False  # it has closed its mouth, and may live
    is_mute: bool = False  # likewise its wire


@dataclass(frozen=True, slots=True)
class Gone:
    """A process that has ended: with a farewell, or killed. `others` is what its code printed last."""

    place: int
    pid: int
    code: int
    farewell: Farewell | None
    others: str

    @property
    def of(self) -> str:
        """What it died of, in words."""
        return f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


@dataclass(slots=True)
class Crew:
    """`post_of` says what the process at a place works at; it is asked anew for every start."""

    nursery: Nursery
    post_of: Callable[[int], Post]
    clock: Clock
    members: dict[int, Member] = field(default_factory=dict)
    _due_ms: dict[int, int] = field(default_factory=dict)  # empty places, and when each is filled
    _drained: bool = False
    _quick: dict[int, int] = field(default_factory=dict)  # deaths in a row soon after the start
    _idle: dict[int, int] = field(default_factory=dict)  # deaths with no page in hand, since the job last got on
    _deaths: int = 0  # all of them, since then

    def start(self) -> None:
        """All places are due."""
        self._due_ms = dict.fromkeys(range(self.nursery.size), self.clock.monotonic_ms())

    def tend(self, seconds: float) -> list[Gone]:
        """Fill places that are due, then wait that long for news at most; who has ended meanwhile."""
        self._fill()
        everybody = list(self.members.values())
        mouths = [member.mouth for member in everybody if not member.is_silent]
        wires = [member.wire for member in everybody if not member.is_mute]
        ends = [member.end for member in everybody if member.end is not None]
        ready = set(select.select([*mouths, *wires, *ends], [], [], seconds)[0])
        for member in everybody:
            if member.mouth in ready:
                _overhear(member)
            if member.wire in ready:
                self._hear(member)
        return [self._bury(member) for member in everybody if _has_ended(member, ready)]

    def pids(self) -> set[int]:
        return {member.pid for member in self.members.values()}

    def has_drained(self) -> bool:
        """Whether somebody has run out of work since this was last asked."""
        drained, self._drained = self._drained, False
        return drained

    def refill(self, gone: Gone, *, held: int) -> bool:
        """Have the place filled again, after a rest that grows with quick deaths; False: there were too many.

        Deaths are counted since the job last got on. Who held pages leaves them as suspects, so that much has come of
        it; who dies again and again with nothing in hand would do so for ever.
        """
        self._deaths += 1
        if not held:
            self._idle[gone.place] = self._idle.get(gone.place, 0) + 1
        if self._idle.get(gone.place, 0) >= IDLE_DEATHS_MAX or self._deaths >= DEATHS_MAX:
            return False
        deaths = self._quick.get(gone.place, 0)
        rest_ms = 0 if deaths <= 1 else min(REST_MAX_MS, REST_FIRST_MS << (deaths - 2))
        self._due_ms[gone.place] = self.clock.monotonic_ms() + rest_ms
        return True

    def got_on(self) -> None:
        """Pages were done or found: whatever its deaths, the crew is of use."""
        self._idle.clear()
        self._quick.clear()
        self._deaths = 0

    def dismiss(self) -> None:
        """Everybody finishes what is in hand and goes; nobody is replaced any more."""
        self._due_ms.clear()
        for member in self.members.values():
            _send(member, signal.SIGTERM)

    def kill(self, pid: int | None = None) -> None:
        """kill -9 for all, or for one."""
        for member in self.members.values():
            if pid in (None, member.pid):
                _send(member, signal.SIGKILL)

    def close(self) -> None:
        """Whatever happened, nobody is left behind."""
        self.kill()
        for member in list(self.members.values()):
            self._bury(member)

    def _fill(self) -> None:
        now = self.clock.monotonic_ms()
        for place in [place for place, due_ms in self._due_ms.items() if due_ms <= now]:
            del self._due_ms[place]
            self.members[place] = self._spawn(place)

    def _spawn(self, place: int) -> Member:
        newborn = self.nursery.bear()
        text = msgspec.json.encode(self.post_of(place))
        try:
            while text:
                text = text[os.write(newborn.post, text) :]
        except BrokenPipeError:
            pass  # it died before it could read: the next look finds it
        finally:
            os.close(newborn.post)
        os.set_blocking(newborn.mouth, False)
        os.set_blocking(newborn.wire, False)
        return Member(place, newborn.pid, newborn.wire, newborn.mouth, _end_of(newborn.pid))

    def _hear(self, member: Member) -> None:
        """Take in all that it has said."""
        with suppress(BlockingIOError):
            while part := os.read(member.wire, READ_BYTES):
                words, member.begun = words_in(member.begun + part)
                self._take_in(member, words)
            member.is_mute = True

    def _take_in(self, member: Member, words: list[Word]) -> None:
        for word in words:
            match word:
                case Ready():
                    member.ready_ms = self.clock.monotonic_ms()
                case Drained():
                    self._drained = True
                case PlanFailed(why):
                    member.plan_failed = why
                case Farewell():
                    member.farewell = word

    def _bury(self, member: Member) -> Gone:
        del self.members[member.place]
        self._hear(member)
        _overhear(member)
        for descriptor in (member.wire, member.mouth, member.end):
            if descriptor is not None:
                os.close(descriptor)
        code = self.nursery.reap(member.pid)
        quick = member.ready_ms is None or self.clock.monotonic_ms() - member.ready_ms < QUICK_MS
        self._quick[member.place] = self._quick.get(member.place, 0) + 1 if quick else 0
        others = member.printed.decode(errors="replace").strip()
        return Gone(member.place, member.pid, code, member.farewell, others)


def _end_of(pid: int) -> int | None:
    """What becomes readable when the process ends. The end of its wire says less: a process that its code has forked
    keeps that open, and its code may close it."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(member: Member, ready: set[int]) -> bool:
    return member.is_mute if member.end is None else member.end in ready


def _send(member: Member, number: signal.Signals) -> None:
    """Nobody is reaped before we ask for it, so the pid is still theirs. Only with the nursery all of them vanish, and
    then a pid may soon be another's, which what we hold open of its end cannot be."""
    with suppress(ProcessLookupError):
        if member.end is None:
            os.kill(member.pid, number)
        else:
            signal.pidfd_send_signal(member.end, number)


def _overhear(member: Member) -> None:
    """Take in all that it has printed. A program that its code has left behind may keep the mouth open for ever."""
    with suppress(BlockingIOError):
        while part := os.read(member.mouth, READ_BYTES):
            member.printed = (member.printed + part)[-PRINTED_MAX:]
        member.is_silent = True
