"""The second reader of answers: for origins whose header lines libcurl does not take, one connection per answer.

It keeps to what binds libcurl's exchanges: the guard judges the very address that is connected to, the same roots are
trusted, and deadlines and budgets are the same. It knows no proxy.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import ada_url

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.cookie_lines import cookies_for, lines_of
from holdfast.fetch.guard import Guard, endpoint_of
from holdfast.fetch.http import descriptors
from holdfast.fetch.http.decode import Decoder, encodings_of
from holdfast.fetch.http.exchange import OUT_OF_RESOURCES, SLICE_MS
from holdfast.fetch.http.headers import header_lines, sent_lines
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.loop import TICK_S
from holdfast.fetch.http.names import Names
from holdfast.fetch.http.route import Route
from holdfast.fetch.http1 import Head, framing_of
from holdfast.model.exchange import Budget, Headers, Response
from holdfast.model.keys import origin_of

log = logging.getLogger(__name__)

ORIGINS_MAX = 1000
READ_BYTES = 65_536


class LenientReader:
    """`fetch` may be called by many tasks. It remembers the origins whose last answer had a line to be skipped."""

    def __init__(
        self,
        guard: Guard,
        budget: Budget,
        headers: Sequence[str],
        route: Route,
        *,
        clock: Clock,
        in_flight: BytesInFlight,
    ) -> None:
        self._guard, self._budget, self._common, self._route = guard, budget, list(headers), route
        self._clock, self._in_flight = clock, in_flight
        self._names = Names(guard, clock, deadline_s=budget.connect_s)
        self._origins: dict[str, None] = {}  # in the order in which they came
        self._scopes: set[asyncio.Timeout] = set()
        self._tls: ssl.SSLContext | None = None
        self._closed = False

    def is_for(self, url: str) -> bool:
        """Whether a request to this origin had better come here at once."""
        return origin_of(url) in self._origins

    async def fetch(self, url: str, headers: Headers, began_ms: int) -> Response:
        """One GET, as a part of the attempt that began then."""
        origin = origin_of(url)
        skipped = 0
        try:
            async with self._within_total(began_ms) as scope:
                response, skipped = await self._ask(url, headers, began_ms, scope)
        finally:
            was_known = self._origins.pop(origin, self) is None
            if skipped:
                self._remember(origin)
        if skipped and not was_known:
            log.info("%s: %d header lines without a colon were skipped, as browsers do", url, skipped)
        return response

    def close(self) -> None:
        """End what is in flight: its callers get `network_error`."""
        self._closed = True
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(0)

    def _remember(self, origin: str) -> None:
        if len(self._origins) >= ORIGINS_MAX:
            del self._origins[next(iter(self._origins))]
        self._origins[origin] = None

    @asynccontextmanager
    async def _within_total(self, began_ms: int) -> AsyncIterator[asyncio.Timeout]:
        budget = self._budget
        left_s = budget.total_s - (self._clock.monotonic_ms() - began_ms) / 1000
        try:
            async with asyncio.timeout(left_s) as scope:
                self._scopes.add(scope)
                try:
                    yield scope
                finally:
                    self._scopes.discard(scope)
        except TimeoutError:
            if self._closed:
                raise FetchError("network_error", "the fetcher was closed") from None
            raise FetchError("network_timeout", f"total: not complete after {budget.total_s:g} s") from None

    async def _ask(self, url: str, headers: Headers, began_ms: int, scope: asyncio.Timeout) -> tuple[Response, int]:
        jar, wall_ms = self._route.jar, self._clock.wall_ms()
        cookies = "" if jar is None else cookies_for(url, jar.lines(), wall_ms)
        asked = request_of(url, [*self._common, *header_lines(headers)], cookies)
        reader, writer, address = await self._connect(url)
        answer = _Answer(reader, self._budget, self._clock, self._in_flight, scope)
        try:
            writer.write(asked)
            body = await answer.read()
        except OSError as error:
            raise FetchError("network_error", f"the connection broke: {error.strerror or error}") from None
        finally:
            self._in_flight.drop(answer)
            writer.transport.abort()
        if jar is not None:
            jar.keep(lines_of(url, answer.headers, wall_ms), answer.headers)
        response = Response(
            url=url,
            status=answer.head.status,
            headers=answer.headers,
            body=body,
            encoding=", ".join(encodings_of(answer.headers)),
            address=address,
            elapsed_ms=self._clock.monotonic_ms() - began_ms,
        )
        return response, answer.head.skipped

    async def _connect(self, url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, str]:
        budget = self._budget
        host, port = endpoint_of(url)
        addresses, port = await self._addresses(host, port)
        try:
            async with asyncio.timeout(budget.connect_s):
                opened, address = await self._open(addresses, port)
                try:
                    return *await self._speak(opened, host if url.startswith("https:") else None), address
                except BaseException:
                    opened.close()
                    raise
        except ssl.SSLError as error:
            is_cut = isinstance(error, ssl.SSLEOFError | ssl.SSLSyscallError)
            raise FetchError("network_error" if is_cut else "tls_error", str(error)) from None
        except TimeoutError:
            raise FetchError("network_timeout", f"connect: no connection for {budget.connect_s:g} s") from None
        except OSError as error:
            code = "no_resources" if error.errno in OUT_OF_RESOURCES else "network_error"
            raise FetchError(code, f"no connection: {error.strerror or error}") from None

    async def _addresses(self, host: str, port: int) -> tuple[tuple[str, ...], int]:
        mapped = self._guard.mapped(host)
        return (await self._names.addresses(host), port) if mapped is None else ((mapped[0],), mapped[1])

    async def _open(self, addresses: tuple[str, ...], port: int) -> tuple[socket.socket, str]:
        """A connection to the first of these addresses that may be connected to and answers."""
        refusal, failure = None, OSError("no address")
        for address in addresses:
            refused = self._guard.refusal(address, port)
            if refused is not None:
                refusal = refused
                continue
            opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
            try:
                if opened.fileno() >= descriptors.limit() - descriptors.SPARE:
                    raise FetchError("no_resources", "the last descriptors of this process are kept (ulimit -n)")
                opened.setblocking(False)
                await asyncio.get_running_loop().sock_connect(opened, (address, port))
            except OSError as error:
                opened.close()
                failure, refusal = error, None
            except BaseException:
                opened.close()
                raise
            else:
                return opened, address
        if refusal is not None:
            raise FetchError("blocked_address", refusal)
        raise failure

    async def _speak(
        self, opened: socket.socket, tls_host: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if tls_host is None:
            return await asyncio.open_connection(sock=opened, limit=READ_BYTES)
        if self._tls is None:
            self._tls = self._route.tls_context()
        return await asyncio.open_connection(
            sock=opened, limit=READ_BYTES, ssl=self._tls, server_hostname=tls_host.rstrip(".")
        )


class _Answer:
    """One answer on its way in."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        budget: Budget,
        clock: Clock,
        in_flight: BytesInFlight,
        scope: asyncio.Timeout,
    ) -> None:
        self.head, self.headers = Head(budget), Headers()
        self._reader, self._budget, self._clock = reader, budget, clock
        self._in_flight, self._scope = in_flight, scope
        self._received_any = False

    async def read(self) -> bytes:
        """The whole body, decoded; `head` and `headers` are there by then."""
        piece = None
        while piece is None:
            received = await self._receive()
            if not received:
                raise FetchError("network_error", "the connection was closed before the end of the headers")
            piece = self.head.feed(received)
        self.headers = self.head.headers
        decoder = Decoder(encodings_of(self.headers), self._budget)
        framing, size = framing_of(self.head.status, self.headers, self._budget), 0
        while True:
            kept = framing.take(piece)
            size += len(kept)
            if size > self._budget.body_bytes_max:
                raise FetchError("body_too_large", f"the body is larger than {self._budget.body_bytes_max} bytes")
            if kept:
                await self._decode(decoder, kept)
            if framing.ended:
                break
            piece = await self._receive()
            if not piece and framing.may_end:
                break
            if not piece:
                raise FetchError("body_incomplete", "the connection was closed before the end of the body")
        body = decoder.finish()
        self._in_flight.give_out(self)
        return body

    async def _receive(self) -> bytes:
        """The next bytes; none where the connection was closed."""
        budget = self._budget
        deadline_s = budget.idle_s if self._received_any else budget.first_byte_s
        await asyncio.sleep(0)  # bytes that are here already would not let the event loop have its turn
        try:
            async with asyncio.timeout(deadline_s):
                piece = await self._reader.read(READ_BYTES)
        except TimeoutError:
            name = "idle: no further byte" if self._received_any else "no first byte"
            raise FetchError("network_timeout", f"{name} for {deadline_s:g} s") from None
        self._received_any = True
        return piece

    async def _decode(self, decoder: Decoder, piece: bytes) -> None:
        until_ms = self._clock.monotonic_ms() + SLICE_MS
        await self._have_room()
        for _ in decoder.steps(piece) or ():
            self._in_flight.receive(self, decoder.kept_bytes)
            if self._clock.monotonic_ms() >= until_ms:
                await asyncio.sleep(0)
                until_ms = self._clock.monotonic_ms() + SLICE_MS
            await self._have_room()
        self._in_flight.receive(self, decoder.kept_bytes)

    async def _have_room(self) -> None:
        """Wait while too many bytes are held. That time is not the host's."""
        while not self._in_flight.admits(self):
            began_ms = self._clock.monotonic_ms()
            await self._clock.wait(TICK_S)
            self._in_flight.look()
            until_s = self._scope.when()
            if until_s is not None and not self._scope.expired():
                self._scope.reschedule(until_s + (self._clock.monotonic_ms() - began_ms) / 1000)


def request_of(url: str, lines: list[str], cookies: str) -> bytes:
    """The request as libcurl would write it, but for a connection that is closed after it."""
    parts = ada_url.URL(url)
    given = {line.partition(":")[0].rstrip(";").lower() for line in lines}
    own = [f"GET {parts.pathname}{parts.search} HTTP/1.1"]
    own += [f"Host: {parts.host}"] if "host" not in given else []
    own += ["Accept: */*"] if "accept" not in given else []
    own += [f"Cookie: {cookies}"] if cookies else []
    typed = [line for line in sent_lines(lines) if not line.lower().startswith("connection:")]
    return "\r\n".join([*own, *typed, "Connection: close", "", ""]).encode("latin-1")
