"""A small site for a browser, listeners that nobody may reach, and a browser fetcher, for the length of one test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from fetch.fetching import make_fetcher
from holdfast.clock import SystemClock
from holdfast.errors import BadParams
from holdfast.fetch.browser.executable import find_executable
from holdfast.fetch.browser.fetcher import BrowserFetcher
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.route import Route
from holdfast.model.exchange import Budget
from servers import cannot_run
from waiting import wait_until

TEST_S_MAX = 90.0
LIMITS = BrowserLimits(nav_timeout_s=40.0, selector_timeout_s=20.0, click_timeout_s=20.0, idle_s=30.0)
Answers = dict[str, tuple[int, dict[str, str], str]]
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Site:
    """Answers by path and keeps the lines that it was asked by. What `holds` names waits for its event."""

    def __init__(self, answers: Answers | None = None) -> None:
        self.answers: Answers = answers or {}
        self.asked: list[str] = []
        self.heads: list[str] = []
        self.connections = 0
        self.holds: dict[str, asyncio.Event] = {}
        self._tasks = set[asyncio.Task[None]]()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    async def until(self, line: str) -> None:
        """Until it was asked for this."""
        await asyncio.to_thread(wait_until, lambda: line in self.asked, 60, line)

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._answer(head.decode("latin-1"), reader, writer)
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the client left, or the test is over
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _answer(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, path, _ = head.split("\r\n")[0].split()
        lengths = [line.split(":")[1] for line in head.lower().split("\r\n") if line.startswith("content-length:")]
        sent = (await reader.readexactly(int(lengths[0]))).decode() if lengths else ""
        self.asked.append(f"{method} {path}{' ' + sent if sent else ''}")
        self.heads.append(head)
        if path in self.holds:
            await self.holds[path].wait()
        status, headers, body = self.answers.get(path, (404, HTML, "no such page"))
        lines = [f"HTTP/1.1 {status} Frog", f"Content-Length: {len(body.encode())}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", body]).encode())
        await writer.drain()


class Listener(asyncio.DatagramProtocol):
    """What must not be reached: a port for connections and the same for datagrams."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.reached.append("datagram")

    async def open(self) -> None:
        def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.reached.append("connection")
            writer.close()

        self._server = await asyncio.start_server(note, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        self._datagrams, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", self.port))

    def close(self) -> None:
        self._server.close()
        self._datagrams.close()


@asynccontextmanager
async def browsing(site: Site, *, limits: BrowserLimits = LIMITS, **more: Any) -> AsyncIterator[BrowserFetcher]:
    guard = Guard(allow=(site.address,), resolve=more.pop("resolve", None))
    budget = Budget(total_s=20.0, body_bytes_max=limits.bytes_max)
    route = Route(**more)
    http = make_fetcher(guard, budget=budget, route=route)
    fetcher = BrowserFetcher(http, guard, limits, route, "holdfast-test", clock=SystemClock())
    try:
        yield fetcher
    finally:
        await fetcher.close()
        await http.close()


def in_browser(
    answers: Answers, scene: Callable[[Site, BrowserFetcher], Awaitable[None]], *, limits: Any = None, **more: Any
) -> None:
    """Play a scene with a site and a browser that may reach it. Where there is no Chromium it cannot be played."""
    need_chromium()

    async def play() -> None:
        site = Site(answers)
        await site.open()
        wanted = msgspec.structs.replace(LIMITS, **(limits or {}))
        try:
            async with asyncio.timeout(TEST_S_MAX), browsing(site, limits=wanted, **more) as fetcher:
                await scene(site, fetcher)
        finally:
            await site.close()

    asyncio.run(play())


def need_chromium() -> None:
    try:
        find_executable()
    except BadParams as error:
        cannot_run(error.message)


def processes_with(mark: str) -> list[int]:
    """Those that have this in their environment or command line, and are no zombies."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                text = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in text:
                found.append(int(folder.name))
    return found
