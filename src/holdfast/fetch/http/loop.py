"""libcurl's multi interface on the running event loop. It moves bytes when sockets or time say so and knows no HTTP.

libcurl's sockets live in an epoll of our own, and the event loop watches that one descriptor: registering each socket
with asyncio for each exchange took 0.16 CPU s per 1000 pages in all, this takes 0.11. A connection that rests between
two exchanges stays registered: each call to epoll gives the interpreter away, and waits to have it back.
"""

from __future__ import annotations

import asyncio
import select
import threading
from contextlib import suppress

import pycurl

from holdfast.errors import FetchError

_EVENTS = {
    pycurl.POLL_NONE: 0,
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}

TICK_S = 0.04
DRIVE_S_MAX = 0.02  # what else is ready then is ready at the next round of the event loop, too
CLOSE_S_MAX = 1.0

Ending = tuple[int, str]  # libcurl's code, 0 for success, and its message


class CurlLoop:
    """One multi handle. `perform` carries one easy handle to its end; `abort` ends one early."""

    def __init__(self, *, connections_max: int) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections_max)
        self._epoll = select.epoll()
        self._watched: set[int] = set()  # registered; a socket that was closed meanwhile is not any more
        self._resting: set[int] = set()  # of these, the ones that libcurl has no interest in at the moment
        self._endings: dict[pycurl.Curl, asyncio.Future[Ending]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.Handle | None = None
        self._at_once = False  # whether the timer, if there is one, is due in this round of the event loop
        self._closing = False

    async def perform(self, curl: pycurl.Curl) -> Ending:
        """Run the prepared handle. However this ends, also by cancellation, the handle is out of the multi after it."""
        loop = self._started()
        ending: asyncio.Future[Ending] = loop.create_future()
        self._endings[curl] = ending
        try:
            self._multi.add_handle(curl)
            return await ending
        finally:
            if self._endings.pop(curl, None) is not None:
                self._multi.remove_handle(curl)

    def tick(self) -> None:
        """Let libcurl look at its clocks; to be called every TICK_S while anything runs."""
        self._drive(pycurl.SOCKET_TIMEOUT, 0)

    def abort(self, curl: pycurl.Curl, error: Exception) -> None:
        """Take a handle out at once; its `perform` raises `error`."""
        ending = self._endings.pop(curl, None)
        if ending is not None:
            self._multi.remove_handle(curl)
            if not ending.done():
                ending.set_exception(error)

    async def close(self, error: Exception) -> None:
        """Abort what runs and close every connection. The handles themselves are closed by their owner."""
        for curl in list(self._endings):
            self.abort(curl, error)
        self._closing = True
        self._cancel_timer()
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        await self._close_multi(loop)

    async def _close_multi(self, loop: asyncio.AbstractEventLoop) -> None:
        """libcurl waits here for name look-ups that are no longer needed, up to the resolver's own timeout.

        A thread of the executor would make the program's exit wait as well; a daemon thread is left behind instead.
        """
        closed = asyncio.Event()

        def close_multi() -> None:
            self._multi.close()
            with suppress(RuntimeError):  # the event loop ended first
                loop.call_soon_threadsafe(closed.set)

        threading.Thread(target=close_multi, name="curl-close", daemon=True).start()
        with suppress(TimeoutError):
            await asyncio.wait_for(closed.wait(), CLOSE_S_MAX)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._epoll.fileno(), self._on_ready)
        return self._loop

    # libcurl says what it waits for.

    def _on_socket(self, what: int, fd: int, _multi: pycurl.CurlMulti, _assigned: object) -> None:
        if self._closing:
            return
        if what == pycurl.POLL_REMOVE:
            self._resting.add(fd)
            return
        self._resting.discard(fd)
        if fd in self._watched:
            try:
                self._epoll.modify(fd, _EVENTS[what])
                return
            except FileNotFoundError:  # closed since then, and its number is another socket's now
                pass
        self._watched.add(fd)
        self._epoll.register(fd, _EVENTS[what])

    def _forget(self, fd: int) -> None:
        """An idle connection became readable without a transfer: libcurl looks at it when it needs it again."""
        self._resting.discard(fd)
        self._watched.discard(fd)
        with suppress(OSError):  # closed already
            self._epoll.unregister(fd)

    def _on_timer(self, timeout_ms: int) -> None:
        if self._closing or not 0 <= timeout_ms <= TICK_S * 1000:
            return  # nothing is due soon: `tick` will do, and no timer is made and cancelled for each exchange
        if self._timer is not None and self._at_once:
            return  # a hundred exchanges that begin together want one look
        self._cancel_timer()
        loop, self._at_once = self._started(), timeout_ms == 0
        self._timer = (
            loop.call_soon(self._on_time) if timeout_ms == 0 else loop.call_later(timeout_ms / 1000, self._on_time)
        )

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # The event loop says that it happened.

    def _on_ready(self) -> None:
        loop = self._started()
        until_s = loop.time() + DRIVE_S_MAX
        for fd, events in self._epoll.poll(0):
            if fd in self._resting:
                self._forget(fd)
                continue
            mask = pycurl.CSELECT_IN if events & select.EPOLLIN else 0  # 0: libcurl looks at the socket itself
            if events & select.EPOLLOUT:
                mask |= pycurl.CSELECT_OUT
            self._drive(fd, mask)
            if loop.time() > until_s:
                return

    def _on_time(self) -> None:
        self._timer = None
        self._drive(pycurl.SOCKET_TIMEOUT, 0)

    def _drive(self, fd: int, mask: int) -> None:
        try:
            running = self._multi.socket_action(fd, mask)[1]
        except pycurl.error as error:  # libcurl gives up on the whole multi: without this every caller would hang
            for curl in list(self._endings):
                self.abort(curl, FetchError("internal", f"libcurl stopped working: {error}"))
        else:
            self._collect(running)

    def _collect(self, running: int) -> None:
        if running == len(self._endings):
            return
        _, succeeded, failed = self._multi.info_read()
        for curl in succeeded:
            self._end(curl, (0, ""))
        for curl, code, message in failed:
            self._end(curl, (code, message))

    def _end(self, curl: pycurl.Curl, ending: Ending) -> None:
        future = self._endings.pop(curl)
        self._multi.remove_handle(curl)
        if not future.done():
            future.set_result(ending)
