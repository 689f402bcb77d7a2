"""A document made into the page that people see: loaded in a tab, its scripts run, read when it has come to rest.

The document itself was asked for by our own client, which checked its address, kept its budgets and followed no
redirect. The browser is handed those bytes as the answer to its request, with a policy that keeps the page in place:
it opens no window, downloads nothing, and loads neither images nor fonts.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Coroutine
from typing import Any

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.tab import LENGTH, Event, Tab
from holdfast.model.exchange import Headers, Request, Response
from holdfast.ports import Fetcher

CONFINED = "sandbox allow-scripts allow-same-origin allow-forms"
WITHOUT_IMAGES = "; img-src data: blob:; font-src data:; media-src data: blob:"
HTML = frozenset({"text/html", "application/xhtml+xml"})
# Of the bytes as they came; those of the rendered page are others, and no validator speaks for what scripts make of it.
NOT_PASSED_ON = frozenset({"content-length", "content-encoding", "transfer-encoding", "connection"})
NOT_OF_THE_PAGE = NOT_PASSED_ON | {"content-type", "etag", "last-modified", "content-md5", "digest", "content-digest"}
DOCUMENT_BYTES_MAX = 20_000_000  # it is handed over in one piece; what is larger is kept as it came
LOOK_EVERY_S = 0.05
QUIET_S_MAX = 5.0  # a page that never stops asking is read as it is
READ_S_MAX = 10.0
RELOADS_MAX = 1


def is_rendered(response: Response) -> bool:
    """Only a page that is one: redirects, refusals, files and lists are answers already."""
    if not 200 <= response.status < 300 or not 0 < len(response.body) <= DOCUMENT_BYTES_MAX:
        return False
    return response.media in HTML or (not response.media and response.body.lstrip()[:1] == b"<")


class Rendering:
    """One document in one tab."""

    def __init__(self, tab: Tab, document: Response, http: Fetcher, limits: BrowserLimits, clock: Clock) -> None:
        self._tab, self._document, self._http = tab, document, http
        self._limits, self._clock = limits, clock
        self._served = 0
        self._moved_to = ""  # where a script wanted to lead the page
        self._refused = asyncio.Event()  # it wanted to: the page does not load any further

    async def page(self) -> Response:
        """The page as it is after its scripts. FetchError where it does not load, or becomes too large."""
        self._tab.on_document = self._on_document
        try:
            await self._load()
            html = await self._html()
        finally:
            self._tab.on_document = None
        return Response(
            url=self._document.url,
            status=self._document.status,
            headers=self._headers(),
            body=html,
            encoding=self._document.encoding,
            address=self._document.address,
            elapsed_ms=self._document.elapsed_ms,
        )

    async def _load(self) -> None:
        """Until it is quiet; a page that is there but does not come to rest in time is read as it is."""
        page, limits = self._tab.page, self._limits
        is_there = False
        try:
            async with asyncio.timeout(limits.nav_timeout_s):
                await page.goto(self._document.url, wait_until="commit", timeout=0)
                await self._unless_refused(page.wait_for_load_state("domcontentloaded", timeout=0))
                is_there = True
                await self._unless_refused(page.wait_for_load_state("load", timeout=0))
                await self._quiet()
                await self._clock.wait(limits.settle_wait_s)
        except TimeoutError:
            if not is_there:
                message = f"browser: the page had not loaded after {limits.nav_timeout_s:g} s"
                raise FetchError("network_timeout", message) from None

    async def _unless_refused(self, loaded: Coroutine[Any, Any, None]) -> None:
        """Loaded, or led elsewhere by a script: then Chromium waits for a page that does not come."""
        waits = (asyncio.ensure_future(loaded), asyncio.ensure_future(self._refused.wait()))
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _quiet(self) -> None:
        quiet_s = waited_s = 0.0
        while quiet_s < self._limits.quiet_s and waited_s < QUIET_S_MAX:
            await self._clock.wait(LOOK_EVERY_S)
            waited_s += LOOK_EVERY_S
            quiet_s = 0.0 if self._tab.in_flight else quiet_s + LOOK_EVERY_S

    async def _html(self) -> bytes:
        """Its length first: what is too large is not brought here at all."""
        try:
            async with asyncio.timeout(min(READ_S_MAX, self._limits.nav_timeout_s)):
                length = await self._tab.page.evaluate(LENGTH)
                if not isinstance(length, int) or length > self._limits.bytes_max:
                    raise self._too_large()
                html = (await self._tab.page.content()).encode("utf-8", "replace")
        except TimeoutError:
            raise FetchError("network_timeout", "browser: the page's scripts do not let it be read") from None
        if len(html) > self._limits.bytes_max:
            raise self._too_large()
        return html

    def _too_large(self) -> FetchError:
        return FetchError("body_too_large", f"the rendered page is larger than {self._limits.bytes_max} bytes")

    def _headers(self) -> Headers:
        kept = tuple(row for row in self._document.headers if row[0] not in NOT_OF_THE_PAGE)
        moved = (("refresh", f"0; url={self._moved_to}"),) if self._moved_to else ()
        return (*kept, ("content-type", "text/html; charset=utf-8"), *moved)

    async def _on_document(self, event: Event) -> None:
        """The first is ours. A reload is asked for once more, with the cookies that scripts have set; a script that
        leads elsewhere is told of in the answer, as a refresh."""
        url = event["request"]["url"].partition("#")[0]
        if event["request"]["method"] != "GET" or url != self._document.url or self._served > RELOADS_MAX:
            if event["request"]["method"] == "GET" and url != self._document.url:
                self._moved_to = self._moved_to or url
            await self._tab.refuse(event)
            self._refused.set()
            return
        self._served += 1
        document = self._document if self._served == 1 else await self._again(event)
        if document is None:
            await self._tab.refuse(event)
            return
        headers = [row for row in document.headers if row[0] not in NOT_PASSED_ON]
        headers.append(("content-security-policy", CONFINED + ("" if self._limits.images else WITHOUT_IMAGES)))
        await self._tab.answer(event, document.status, headers, b64encode(document.body).decode("ascii"))

    async def _again(self, event: Event) -> Response | None:
        cookies = [(name, text) for name, text in event["request"]["headers"].items() if name.lower() == "cookie"]
        try:
            answer = await self._http.fetch(Request(self._document.url, tuple(cookies)))
        except FetchError:
            return None
        if not is_rendered(answer):
            return None
        self._document = answer
        return answer
