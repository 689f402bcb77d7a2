"""The only way out of a browser: a SOCKS5 server of our own on the loopback, through which all its connections pass.

Chromium is started so that it resolves no name and opens no connection by itself. It asks here, by name; here the
name is resolved, the address judged by the guard, and that very address connected to. So a name that changes its answer
gains nothing (SEC-06), whether a document, a script, a redirect or a WebSocket leads to it. A connection to a host is
only made when the browser has something to send: those that it opens in advance reach no host.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.upstream import Streams, Upstream
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.names import Names

log = logging.getLogger(__name__)

PIECE = 65_536
TICK_S = 0.5
GREETING_S = 10.0
FULL_IDLE_S = 1.0  # a connection that has brought its share is closed at the first pause, or else at twice its share
GRANTED, NOT_ALLOWED, NO_SUCH_COMMAND = b"\x00", b"\x02", b"\x07"
BY_IPV4, BY_NAME, BY_IPV6 = 1, 3, 4
REFUSALS_KEPT = 100
# What Chromium asks its maker of its own accord. No page needs them.
CALLS_HOME = frozenset(
    {
        "accounts.google.com",
        "clients1.google.com",
        "clients2.google.com",
        "clients4.google.com",
        "clientservices.googleapis.com",
        "content-autofill.googleapis.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "update.googleapis.com",
    }
)


class Tunnel:
    """One connection of the browser, and what has passed through it."""

    def __init__(self, task: asyncio.Task[None], now_ms: int) -> None:
        self.task, self.last_ms = task, now_ms
        self.down_bytes = 0


class Gate:
    """`await open()`, then `port` is what the browser is pointed at. `refused` are the last refusals, as sentences."""

    def __init__(self, guard: Guard, limits: BrowserLimits, upstream: Upstream, clock: Clock) -> None:
        self._guard, self._limits, self._upstream, self._clock = guard, limits, upstream, clock
        self._names = Names(guard, clock, deadline_s=limits.connect_s)
        self._tunnels: set[Tunnel] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self.port = 0
        self.down_bytes = 0
        self.refused: list[str] = []

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=PIECE)
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """Every connection is cut. May be repeated."""
        if self._server is not None:
            self._server.close()
        tasks = [tunnel.task for tunnel in self._tunnels]
        if self._sweeper is not None:
            tasks.append(self._sweeper)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tunnel = Tunnel(task, self._clock.monotonic_ms())
        self._tunnels.add(tunnel)
        try:
            asked = await self._asked(reader, writer)
            if asked is not None:
                await self._carry(tunnel, asked, (reader, writer))
        except FetchError as error:
            self._note(error.message)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError):
            pass  # the browser or the host left, or the tunnel stood still
        finally:
            self._tunnels.discard(tunnel)
            writer.close()

    async def _asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
        """Where the browser wants to go (RFC 1928); None where that was refused at once."""
        async with asyncio.timeout(GREETING_S):
            _version, methods = await reader.readexactly(2)
            await reader.readexactly(methods)
            writer.write(b"\x05\x00")
            _version, command, _reserved, kind = await reader.readexactly(4)
            host = await _host(reader, kind)
            port = int.from_bytes(await reader.readexactly(2), "big")
        refusal = NO_SUCH_COMMAND if command != 1 else self._refused_at_once(host, port)
        writer.write(b"\x05" + (refusal or GRANTED) + b"\x00\x01" + bytes(6))
        await writer.drain()
        return None if refusal else (host, port)

    def _refused_at_once(self, host: str, port: int) -> bytes | None:
        """What needs no look-up to be refused."""
        if host.lower() in CALLS_HOME and not self._guard.maps(host):
            return NOT_ALLOWED
        sentence = self._guard.check_seed(f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/")
        if sentence is None:
            return None
        self._note(sentence)
        return NOT_ALLOWED

    async def _carry(self, tunnel: Tunnel, asked: tuple[str, int], browser: Streams) -> None:
        first = await browser[0].read(PIECE)
        if not first:
            return
        async with asyncio.timeout(self._limits.connect_s):
            host = await self._connected(*asked)
        try:
            host[1].write(first)
            upwards = asyncio.create_task(self._pump(tunnel, browser[0], host[1], down=False))
            try:
                await self._pump(tunnel, host[0], browser[1], down=True)
            finally:
                upwards.cancel()
                await asyncio.gather(upwards, return_exceptions=True)
        finally:
            host[1].close()

    async def _connected(self, host: str, port: int) -> Streams:
        """To an address that the guard lets through, and to no other; FetchError where there is none."""
        mapped = self._guard.mapped(host)
        if mapped is not None:
            self._judge(*mapped)
            return await self._upstream.connected(mapped[0], mapped[0], mapped[1])
        if self._upstream.is_proxy:  # it is the proxy that chooses among them
            return await self._upstream.connected(host, await self._names.checked(host, port), port)
        sentence = "no address"
        for address in await self._names.addresses(host):
            refusal = self._guard.refusal(address, port)
            if refusal is not None:
                sentence = refusal
                continue
            try:
                return await self._upstream.connected(host, address, port)
            except OSError as error:
                sentence = f"{host} could not be connected: {error.strerror or error}"
        raise FetchError("blocked_address", sentence)

    def _judge(self, address: str, port: int) -> None:
        refusal = self._guard.refusal(address, port)
        if refusal is not None:
            raise FetchError("blocked_address", refusal)

    async def _pump(
        self, tunnel: Tunnel, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, down: bool
    ) -> None:
        while piece := await source.read(PIECE):
            tunnel.last_ms = self._clock.monotonic_ms()
            if down:
                tunnel.down_bytes += len(piece)
                self.down_bytes += len(piece)
                if tunnel.down_bytes > 2 * self._limits.bytes_max:
                    self._note(f"a connection brought more than {self._limits.bytes_max} bytes")
                    return
            sink.write(piece)
            await sink.drain()

    async def _sweep(self) -> None:
        """Cut what stands still: one look at all tunnels instead of a timer for each."""
        while True:
            await self._clock.wait(TICK_S)
            now_ms = self._clock.monotonic_ms()
            for tunnel in self._tunnels:
                is_full = tunnel.down_bytes > self._limits.bytes_max
                idle_s = FULL_IDLE_S if is_full else self._limits.idle_s
                if now_ms - tunnel.last_ms > idle_s * 1000:
                    tunnel.task.cancel()

    def _note(self, sentence: str) -> None:
        self.refused = [*self.refused[-REFUSALS_KEPT:], sentence]
        log.debug("the browser was refused a connection: %s", sentence)


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == BY_IPV4:
        return str(IPv4Address(await reader.readexactly(4)))
    if kind == BY_IPV6:
        return str(IPv6Address(await reader.readexactly(16)))
    if kind != BY_NAME:
        raise FetchError("bad_response", f"the browser asked in an unknown form of address: {kind}")
    name = await reader.readexactly((await reader.readexactly(1))[0])
    with suppress(UnicodeDecodeError):
        return name.decode("ascii").strip("[]")
    raise FetchError("bad_url", "the browser asked for an invalid host name")
