"""Ends a wait for an answer that the server should have ended long ago, by hanging up.

A server that stands still has a kernel that does not: it acknowledges everything, so neither keepalives nor
`tcp_user_timeout` notice, and its own `statement_timeout` stands still with it.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast.clock import SystemClock


class Watchdog:
    """Watches one connection, on a thread of its own that is started when first needed."""

    def __init__(self, answer_s: float) -> None:
        self._answer_ms = round(answer_s * 1000)
        self._look_every_s = answer_s / 10
        self._clock = SystemClock()
        self._lock = threading.Lock()  # while it is held, a descriptor in `_talking` stays open
        self._talking: int | None = None
        self._since_ms = 0
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, descriptor: int) -> Iterator[None]:
        """While this lasts, every answer on the descriptor has its time; `heard` begins the next one's."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="watchdog", daemon=True)
            self._thread.start()
        self.heard()
        with self._lock:
            self._talking = descriptor
        try:
            yield
        finally:
            with self._lock:
                self._talking = None

    def heard(self) -> None:
        self._since_ms = self._clock.monotonic_ms()

    def close(self) -> None:
        self._closed.set()

    def _loop(self) -> None:
        while not self._closed.wait(self._look_every_s):
            with self._lock:
                silent_ms = self._clock.monotonic_ms() - self._since_ms
                if self._talking is not None and silent_ms > self._answer_ms:
                    _hang_up(self._talking)


def _hang_up(descriptor: int) -> None:
    """The waiting thread then reads the end of the connection."""
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as line:
        line.shutdown(socket.SHUT_RDWR)
