"""Signals where the main thread does not hear them: Python runs handlers on that thread, between two of its steps, and
a step of a recipe may keep it in one call for ever.

A thread of its own reads, from a pipe that the interpreter writes to at once, which signals came. It leaves a second
Ctrl-C to the main thread for a moment, and carries it out where that does not. It also keeps the word that pages in
hand have a deadline, where one of them holds up the event loop. Code that never gives the interpreter away cannot be
helped from inside this process.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Protocol

from holdfast.clock import pause_thread

TURN_S = 0.5
NUMBERS_MAX = 64
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


class Heard(Protocol):
    """What is to be done in the main thread's place."""

    @property
    def stands_still(self) -> bool: ...

    @property
    def patience_s(self) -> float: ...

    def leave(self) -> None: ...

    def give_up(self) -> None: ...


@contextmanager
def overheard(heard: Heard) -> Iterator[None]:
    """For the time of the block; only in the main thread, which alone may say where signals are told."""
    ours, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    _deafen_forks()
    thread = threading.Thread(target=_listen, args=(ours, heard), name="overhearing", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        told.shutdown(socket.SHUT_RDWR)  # ends the thread; a process that a recipe has forked may keep it open
        told.close()
        thread.join()
        ours.close()


@cache
def _deafen_forks() -> None:
    """A process that a recipe forks would share our pipe: a Ctrl-C, which reaches both, would be two. So it never has
    the pipe; or, where it is not the main thread that forks, lets go of it first of all."""
    held: list[int] = []

    def let_go() -> None:
        with suppress(ValueError):
            held.append(signal.set_wakeup_fd(-1))

    def take_again() -> None:
        if held:
            signal.set_wakeup_fd(held.pop(), warn_on_full_buffer=False)

    os.register_at_fork(before=let_go, after_in_parent=take_again, after_in_child=let_go)


def _listen(ours: socket.socket, heard: Heard) -> None:
    interrupts, waited_s = 0, 0.0
    asked = False
    while True:
        numbers = _numbers(ours)
        if numbers is None:
            return
        asked = asked or bool(ENDING.intersection(numbers))
        interrupts += numbers.count(signal.SIGINT)
        if interrupts > 1:
            pause_thread(TURN_S)  # the main thread's turn: it knows better how to leave
            heard.leave()
        waited_s += TURN_S if asked and not numbers else 0.0
        if waited_s >= heard.patience_s and heard.stands_still:
            heard.give_up()
        ours.settimeout(TURN_S if asked else None)


def _numbers(ours: socket.socket) -> bytes | None:
    """The signals that came; none within a turn; None: there is no listener any more."""
    try:
        return ours.recv(NUMBERS_MAX) or None
    except TimeoutError:
        return b""
