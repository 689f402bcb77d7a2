"""The HTTP `Fetcher`: a pool of libcurl handles on one multi, guarded by address, deadlines and budgets.

Any complete answer is a Response, whatever its status; everything else is a FetchError with a code. It never follows a
redirect, and it knows nothing of robots, slots or retries: those are decided before a request gets here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.clock import Clock
from holdfast.errors import FetchError, HoldfastError
from holdfast.fetch.guard import Guard, endpoint_of
from holdfast.fetch.http.exchange import SLICE_MS, Exchange, HeaderWithoutColon
from holdfast.fetch.http.headers import common_headers
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.loop import TICK_S, CurlLoop
from holdfast.fetch.http.names import Names
from holdfast.fetch.http.route import Route
from holdfast.fetch.http.secrets import PrivateHeaders
from holdfast.model.exchange import Budget, Headers, Request, Response
from holdfast.model.keys import canonical, is_plain, origin_of
from holdfast.ports import FileSink

if TYPE_CHECKING:
    from holdfast.fetch.http.download import Download
    from holdfast.fetch.lenient import LenientReader

DIRECT = Route()
CONNECTIONS_PER_SLOT = 2  # kept alive; more hosts than this are re-connected to


class HttpFetcher:
    """`fetch` may be called by many tasks of one event loop; beyond `concurrency` they wait for their turn."""

    def __init__(
        self,
        guard: Guard,
        budget: Budget,
        user_agent: str,
        headers: Headers = (),
        *,
        concurrency: int,
        clock: Clock,
        route: Route = DIRECT,
        private: PrivateHeaders | None = None,
        in_flight: BytesInFlight | None = None,
    ) -> None:
        self._guard, self._budget, self._clock, self._route = guard, budget, clock, route
        self._private = private or None
        self._in_flight = in_flight or BytesInFlight()
        self._names = Names(guard, clock, deadline_s=budget.connect_s) if route.proxy else None
        self._common = common_headers(user_agent, headers)
        self._turns = asyncio.Semaphore(concurrency)
        self._curls = CurlLoop(connections_max=concurrency * CONNECTIONS_PER_SLOT)
        self._all: list[Exchange] = []
        self._free: list[Exchange] = []
        self._free_downloads: list[Download] = []
        self._busy: set[Exchange] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._lenient: LenientReader | None = None  # made by the first answer that needs it
        self._closed = False

    async def fetch(self, request: Request) -> Response:
        """One exchange. Cancelling the caller drops it at once."""
        url = request.url if is_plain(request.url) else _canonical(request.url)
        headers = request.headers if self._private is None else (*self._private.of(origin_of(url)), *request.headers)
        async with self._turns:
            if self._closed:
                raise HoldfastError("the fetcher is closed")
            if self._lenient is not None and request.is_plain and self._lenient.is_for(url):
                return await self._lenient.fetch(url, headers, self._clock.monotonic_ms())
            exchange = self._free.pop() if self._free else self._open()
            self._busy.add(exchange)
            try:
                if self._names is not None:
                    await self._check_name(self._names, exchange, url)
                return await self._carry(exchange, url, headers, None if request.is_plain else request)
            except HeaderWithoutColon:
                if self._route.proxy or not request.is_plain:
                    raise
            finally:
                exchange.end()
                self._busy.discard(exchange)
                self._free.append(exchange)
            return await self._read_leniently(url, headers, exchange.began_ms)

    async def download(self, request: Request, sink: FileSink) -> Response:
        """One exchange whose body goes to the sink. It has no total deadline; to set one, cancel the call."""
        url = request.url if is_plain(request.url) else _canonical(request.url)
        headers = request.headers if self._private is None else (*self._private.of(origin_of(url)), *request.headers)
        async with self._turns:
            if self._closed:
                raise HoldfastError("the fetcher is closed")
            exchange = self._open_download()
            self._busy.add(exchange)
            try:
                if self._names is not None:
                    await self._check_name(self._names, exchange, url)
                exchange.receive_into(sink)
                return await self._carry(exchange, url, headers, None if request.is_plain else request)
            except HoldfastError:
                if exchange.stopped is not None:
                    raise exchange.stopped from None
                raise
            finally:
                exchange.end()
                self._busy.discard(exchange)
                self._free_downloads.append(exchange)

    async def close(self) -> None:
        """Drop what is in flight (its callers get `network_error`), and every connection. May be repeated."""
        if self._closed:
            return
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._lenient is not None:
            self._lenient.close()
        await self._curls.close(FetchError("network_error", "the fetcher was closed"))
        for exchange in self._all:
            exchange.close()

    def _open(self) -> Exchange:
        exchange = Exchange(
            self._guard, self._budget, self._common, self._route, clock=self._clock, in_flight=self._in_flight
        )
        self._all.append(exchange)
        return exchange

    def _open_download(self) -> Download:
        """Handles of their own: pages pay nothing for files."""
        if self._free_downloads:
            return self._free_downloads.pop()
        from holdfast.fetch.http.download import Download

        made = Download(
            self._guard, self._budget, self._common, self._route, clock=self._clock, in_flight=self._in_flight
        )
        self._all.append(made)
        return made

    async def _read_leniently(self, url: str, headers: Headers, began_ms: int) -> Response:
        """Ask once more, within the same attempt, for what libcurl cannot read (decision 0054)."""
        if self._closed:
            raise FetchError("network_error", "the fetcher was closed")
        if self._lenient is None:
            from holdfast.fetch.lenient import LenientReader

            self._lenient = LenientReader(
                self._guard, self._budget, self._common, self._route, clock=self._clock, in_flight=self._in_flight
            )
        return await self._lenient.fetch(url, headers, began_ms)

    async def _check_name(self, names: Names, exchange: Exchange, url: str) -> None:
        """Before a proxy is asked: what the name stands for, judged here; SOCKS is then told that very address."""
        host, port = endpoint_of(url)
        if self._guard.maps(host):
            return
        address = await names.checked(host, port)
        if self._route.pins:
            exchange.pin(f"{host}:{port}:[{address}]:{port}" if ":" in address else f"{host}:{port}:{address}:{port}")

    async def _carry(self, exchange: Exchange, url: str, headers: Headers, request: Request | None = None) -> Response:
        began_ms = self._clock.monotonic_ms()
        exchange.begin(url, headers, began_ms, request)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(TICK_S, self._sweep)
        code, message = await self._curls.perform(exchange.curl)
        if code:
            raise exchange.failure(code, message)
        while exchange.is_behind:
            await self._clock.wait(TICK_S)  # `_sweep` decodes the rest
        response = exchange.response(url, self._clock.monotonic_ms() - began_ms)
        if self._route.jar is not None:
            self._route.jar.after(exchange.curl, response.headers)
        return response

    def _sweep(self) -> None:
        """All deadlines of all exchanges at once, instead of timers for each: none is late by more than 0.1 s."""
        self._sweeper = None
        self._curls.tick()
        self._in_flight.look()
        now_ms = self._clock.monotonic_ms()
        for exchange in self._busy:
            late = exchange.overdue(now_ms)
            if late is not None:
                self._curls.abort(exchange.curl, exchange.fail(FetchError("network_timeout", late)))
                continue
            try:
                exchange.go_on(now_ms + SLICE_MS)
            except FetchError as failure:
                self._curls.abort(exchange.curl, failure)
        if self._busy:
            self._sweeper = asyncio.get_running_loop().call_later(TICK_S, self._sweep)


def _canonical(url: str) -> str:
    address = canonical(url)
    if address is None:
        raise FetchError("bad_url", f"{url[:200]!r} is not an http or https URL that can be asked for")
    return address.url
