"""The browser `Fetcher`: documents by our own client, rendered by Chromium; and pages that a step works by hand.

Everything that is not a page (redirects, files, lists, errors) is answered without the browser, which is started by the
first page that needs it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from holdfast.clock import Clock
from holdfast.errors import FetchError, HoldfastError
from holdfast.fetch.browser import cookies
from holdfast.fetch.browser.executable import find_executable
from holdfast.fetch.browser.gate import Gate
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.pool import BrowserGone, Pool
from holdfast.fetch.browser.render import Rendering, is_rendered
from holdfast.fetch.browser.session import PageSession
from holdfast.fetch.browser.tab import Tab, TabSettings
from holdfast.fetch.browser.upstream import Upstream
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.route import Route
from holdfast.model.browsing import Admit, BrowserPage
from holdfast.model.exchange import Request, Response
from holdfast.ports import Fetcher, FileSink

log = logging.getLogger(__name__)

TRIES = 3  # of one page, each under a browser that works
CONDITIONS = frozenset({"if-none-match", "if-modified-since"})


class BrowserFetcher:
    """Fulfils `ports.Fetcher` and `ports.Browsing`. The caller owns `http` and closes it."""

    def __init__(
        self, http: Fetcher, guard: Guard, limits: BrowserLimits, route: Route, user_agent: str, *, clock: Clock
    ) -> None:
        self._http, self._limits, self._jar, self._clock = http, limits, route.jar, clock
        self.gate = Gate(guard, limits, Upstream(route), clock)
        settings = TabSettings(user_agent=user_agent, images=limits.images, keeps_cookies=route.jar is not None)
        self.pool = Pool(lambda: find_executable(limits.path), self.gate, limits, settings, clock)
        self._opening = asyncio.Lock()
        self._is_closed = False

    async def fetch(self, request: Request) -> Response:
        """The page as it is after its scripts have run; anything else, as the http fetcher gives it."""
        if not request.is_plain:
            return await self._http.fetch(request)
        headers = tuple(row for row in request.headers if row[0].lower() not in CONDITIONS)
        document = await self._http.fetch(Request(request.url, headers))
        return await self._rendered(document) if is_rendered(document) else document

    async def download(self, request: Request, sink: FileSink) -> Response:
        """A file is not a page."""
        return await self._http.download(request, sink)

    @asynccontextmanager
    async def page(self, admit: Admit, keep: str = "") -> AsyncIterator[BrowserPage]:
        """A page to be worked by hand; `admit` is awaited before each document of it is asked for. One that is kept
        has the cookies it has: those of another page would not go with what it shows."""
        await self._open()
        try:
            async with self.pool.tab(keep) as tab:
                if tab.session is None:
                    await self._bring_cookies(tab)
                session = await PageSession.begin(tab, admit, self._limits, self._clock)
                try:
                    yield session
                finally:
                    session.end()
                await self._take_cookies(tab)
        except BrowserGone as gone:
            raise FetchError("browser_crashed", f"the browser was gone: {gone}") from gone

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        await self.pool.close()
        await self.gate.close()

    async def _open(self) -> None:
        async with self._opening:
            if self._is_closed:
                raise HoldfastError("the fetcher is closed")
            if not self.gate.port:
                await self.gate.open()

    async def _rendered(self, document: Response) -> Response:
        """A browser that dies is not the page's fault, unless it does so again and again: nothing is asked for anew."""
        await self._open()
        told = ""
        for _ in range(TRIES):
            try:
                async with self.pool.tab() as tab:
                    await self._bring_cookies(tab)
                    page = await Rendering(tab, document, self._http, self._limits, self._clock).page()
                    await self._take_cookies(tab)
                    return page
            except BrowserGone as gone:
                told = str(gone)
                log.warning("the browser died under %s: %s", document.url[:200], told[:200])
        raise FetchError("browser_crashed", f"the browser died under it {TRIES} times: {told[:300]}")

    async def _bring_cookies(self, tab: Tab) -> None:
        if self._jar is not None:
            await cookies.into_browser(self._jar, tab.context)

    async def _take_cookies(self, tab: Tab) -> None:
        if self._jar is not None:
            await cookies.into_jar(tab.context, self._jar)
