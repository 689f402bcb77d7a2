"""Signals while a job is worked: the first Ctrl-C pauses, the second exits at once, SIGTERM and SIGHUP drain."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from holdfast.cli import exits
from holdfast.cli.screen.feed import Feed
from holdfast.cli.screen.progress import Screen
from holdfast.cli.signal_thread import overheard
from holdfast.clock import pause_thread
from holdfast.config.settings import STOP_GRACE_S
from holdfast.model.spelling import count_of
from holdfast.ports import Runner

LISTEN_EVERY_S = 0.05
STDERR = 2
STUCK = (
    "A page does not let go of this process, so its end was not waited for. What was saved is saved; "
    "the same command goes on"
)


class SignalHandlers:
    """Handles signals from before a session exists until it is over; what came early is passed on when it begins."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self.patience_s = deadline_s + STOP_GRACE_S
        self._session: Runner | None = None
        self._screen: Screen | None = None
        self._feed: Feed | None = None
        self._interrupts = 0
        self._stops = 0

    @property
    def stopped(self) -> bool:
        """Whether this command was asked to end."""
        return bool(self._interrupts or self._stops)

    @property
    def stands_still(self) -> bool:
        """Whether no order reaches the session, because a step does not let go of it."""
        session = self._session  # read once: another thread asks
        return session is not None and session.stands_still

    def attach(self, session: Runner, screen: Screen, feed: Feed) -> None:
        self._session, self._screen, self._feed = session, screen, feed
        if self._interrupts:
            self._pause()
        elif self._stops:
            self._drain()

    def leave(self) -> None:
        """A second Ctrl-C, heard where the main thread does not hear it."""
        leave_at_once(self._screen)

    def give_up(self) -> None:
        """The time for pages in hand is over, and one of them does not even let us ask."""
        leave_at_once(self._screen, exits.INTERRUPTED, STUCK)

    def detach(self) -> None:
        self._session = self._screen = self._feed = None

    def on_interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            leave_at_once(self._screen)
        self._pause()

    def on_stop(self, number: int, frame: FrameType | None) -> None:
        self._stops += 1
        self._drain()

    def wait(self, seconds: float) -> None:
        """Until that time has passed or a signal came: Python lets a sleep go on after a handler has run."""
        for _ in range(round(seconds / LISTEN_EVERY_S)):
            if self.stopped:
                return
            pause_thread(LISTEN_EVERY_S)

    def _pause(self) -> None:
        if self._session is not None and self._screen is not None and self._feed is not None:
            self._screen.urgent(pausing(self._feed.in_flight, self._deadline_s))
            self._session.interrupt("pause")

    def _drain(self) -> None:
        if self._session is not None and self._screen is not None and self._feed is not None:
            if self._stops <= 1:
                self._screen.urgent(draining(self._feed.in_flight, self._deadline_s))
            self._session.interrupt("drain")


def leave_at_once(screen: Screen | None, code: int = exits.KILLED_BY_INT, saying: str = "") -> None:
    """Safe, because everything that was said to be saved is: no clean-up is owed."""
    abandon = getattr(screen, "abandon", None)
    if abandon is not None:
        abandon()
    if saying:
        with suppress(OSError):
            os.write(STDERR, f"\n{saying}\n".encode())
    os._exit(code)


def pausing(in_flight: int, deadline_s: float) -> str:
    return f"Pausing{_finishing(in_flight, deadline_s)}. Ctrl-C again exits now; nothing is lost either way."


def draining(in_flight: int, deadline_s: float) -> str:
    return f"Stopping{_finishing(in_flight, deadline_s)}. The job is not paused: it goes on when a worker is back."


def _finishing(in_flight: int, deadline_s: float) -> str:
    """What is waited for; with no page in hand that may still be an answer such as a robots.txt."""
    pages = f": finishing {count_of(in_flight, 'page')}" if in_flight else ""
    return f"{pages} (at most {deadline_s:g} s)"


@contextmanager
def handling_signals(handlers: SignalHandlers) -> Iterator[None]:
    """Install handlers for the time of the block, and put back what was there."""
    wanted = {signal.SIGINT: handlers.on_interrupt, signal.SIGTERM: handlers.on_stop, signal.SIGHUP: handlers.on_stop}
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # nohup means it
        del wanted[signal.SIGHUP]
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        with overheard(handlers):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
