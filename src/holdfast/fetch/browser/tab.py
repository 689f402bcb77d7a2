"""One tab: a context of its own with one page, used for one target after another. Only its cache outlives a target.

The page's own documents are paused before they are requested, and the user of the tab decides about each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from holdfast.fetch.browser.process import Chromium

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Response

PAUSED = [{"resourceType": "Document", "requestStage": "Request"}]
PAUSED_MEDIA = [{"resourceType": kind, "requestStage": "Request"} for kind in ("Media", "Image", "Font")]
STORED = "local_storage,indexeddb,cache_storage,service_workers,websql"
BLANK = "about:blank"
ABORTED = "net::ERR_ABORTED"
READABLE = "access-control-allow-origin"  # a page can read the answer of another origin that has this header
LENGTH = "document.documentElement ? document.documentElement.outerHTML.length : 0"  # what `content()` would bring
USES_MAX = 25  # what Playwright keeps of a page grows with every target: 0.2 MB for each, here and in its driver
Event = dict[str, Any]


class TabSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What every tab of a job has alike."""

    user_agent: str
    images: bool = False
    keeps_cookies: bool = False


class Tab:
    """`on_document` is called with every request for a document of the page itself; without it they are refused."""

    def __init__(self, chromium: Chromium, context: BrowserContext, page: Page, cdp: CDPSession, frame: str) -> None:
        self.chromium, self.context, self.page, self._cdp, self._frame = chromium, context, page, cdp, frame
        self.on_document: Callable[[Event], Awaitable[None]] | None = None
        self.has_crashed = False
        self.was_too_large = False  # which is why it has crashed
        self.keeps_cookies = False
        self.is_spent = False  # no other target is worked in it
        self.name = ""  # of a page that stays as it is for the next target that asks for it
        self.session: Any = None  # the `PageSession` that works it, where it has a name
        self._uses = 0
        self.in_flight: set[Request] = set()  # sent, and not ended
        self.ended: dict[Request, bool | None] = {}  # see `PageSession.ended`
        self._answers: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, chromium: Chromium, settings: TabSettings) -> Tab:
        """Nothing is granted, downloaded or left running: no permissions, no downloads, no service workers."""
        context = await chromium.browser.new_context(
            user_agent=settings.user_agent, service_workers="block", accept_downloads=False
        )
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        tab = cls(chromium, context, page, cdp, frame)
        tab.keeps_cookies = settings.keeps_cookies
        cdp.on("Fetch.requestPaused", tab._paused)
        context.on("page", tab._popped_up)
        page.on("crash", tab._crashed)
        page.on("request", tab._sent)
        page.on("requestfinished", tab._ended)
        page.on("requestfailed", tab._not_answered)
        page.on("response", tab._responded)
        await cdp.send("Fetch.enable", {"patterns": PAUSED if settings.images else PAUSED + PAUSED_MEDIA})
        return tab

    async def clear(self) -> None:
        """End the page's scripts, and forget what it stored; a page with a name stays as it is."""
        parts = urlsplit(self.page.url)
        self._uses += 1
        self.is_spent = self.is_spent or self._uses >= USES_MAX
        self.on_document = None
        if self.name:
            return
        await self.page.goto(BLANK, wait_until="commit")
        self.in_flight.clear()
        self.ended.clear()
        if self.keeps_cookies:
            return
        await self.context.clear_cookies()
        if parts.scheme in ("http", "https"):
            origin = f"{parts.scheme}://{parts.netloc}"
            await self._cdp.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})

    async def answer(self, event: Event, status: int, headers: list[tuple[str, str]], body: str) -> None:
        """Give the browser this answer, its body in base64, to a request that is paused."""
        named = [{"name": name, "value": value} for name, value in headers]
        what = {"requestId": event["requestId"], "responseCode": status, "responseHeaders": named, "body": body}
        await self._cdp.send("Fetch.fulfillRequest", what)

    async def let_go(self, event: Event) -> None:
        """The browser asks for it itself, by way of the gate."""
        await self._cdp.send("Fetch.continueRequest", {"requestId": event["requestId"]})

    async def refuse(self, event: Event) -> None:
        """The page stays where it is."""
        await self._cdp.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})

    def _paused(self, event: Event) -> None:
        task = asyncio.ensure_future(self._answered(event))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answered(self, event: Event) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page or its browser is gone, and its waiter is told
            if event["resourceType"] != "Document":
                await self.refuse(event)
            elif event["frameId"] != self._frame:
                await self.let_go(event)
            elif self.on_document is None:
                await self.refuse(event)
            else:
                await self.on_document(event)

    def _popped_up(self, page: Page) -> None:
        if page is not self.page:
            task = asyncio.ensure_future(_closed(page))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)

    def _crashed(self, _: Page) -> None:
        self.has_crashed = True
        self.was_too_large = self.chromium.was_too_large()

    def _sent(self, request: Request) -> None:
        self.in_flight.add(request)

    def _ended(self, request: Request) -> None:
        self.in_flight.discard(request)

    def _not_answered(self, request: Request) -> None:
        """A page aborts what it no longer wants, and what it has waited for too long."""
        self._ended(request)
        self.ended[request] = False if request.failure != ABORTED and self._is_own(request) else None

    def _responded(self, response: Response) -> None:
        if self._is_own(response.request) or READABLE in response.headers:
            self.ended[response.request] = response.status < 400

    def _is_own(self, request: Request) -> bool:
        return urlsplit(request.url)[:2] == urlsplit(self.page.url)[:2]


async def _closed(page: Page) -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await page.close()
