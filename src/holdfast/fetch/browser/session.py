"""A page that a step works by hand: goes to, fills in, clicks, waits, reads. Every document of it is admitted first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from holdfast.clock import Clock
from holdfast.errors import BadParams, FetchError, HoldfastError
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.tab import LENGTH, Event, Tab
from holdfast.model.browsing import Admit
from holdfast.model.keys import canonical

# Links and forms that would open a window lead the page itself there.
ONE_WINDOW = """
window.open = url => { if (url) location.href = url; return null };
for (const kind of ['click', 'submit']) addEventListener(kind, event => {
  const one = event.target.closest && event.target.closest('a[target],form[target]');
  if (one) one.removeAttribute('target');
}, true);
"""
READ_S = 10.0
SCRIPTED = ("fetch", "xhr")
CLICK_SHOWS_S = 0.05  # until the page has noticed a click


class PageSession:
    """Fulfils `model.browsing.BrowserPage`."""

    def __init__(self, tab: Tab, admit: Admit, limits: BrowserLimits, clock: Clock) -> None:
        self._tab, self._page, self._admit = tab, tab.page, admit
        self._limits, self._clock = limits, clock
        self._refusal: HoldfastError | None = None
        self._going = 0  # documents that were asked for and are not there yet
        self._admitting = 0  # documents that wait until they may be asked for
        self._deadline: asyncio.Timeout | None = None  # of what is under way
        self._left_s = 0.0  # of it, while it stands still
        tab.on_document, tab.is_spent = self._on_document, not tab.name
        self._page.on("framenavigated", lambda frame: self._arrived(frame is self._page.main_frame))
        self._page.on("requestfailed", lambda request: self._arrived(request.is_navigation_request()))

    @classmethod
    async def begin(cls, tab: Tab, admit: Admit, limits: BrowserLimits, clock: Clock) -> PageSession:
        """The page of a tab; the one that it has already, where that has a name."""
        known: PageSession | None = tab.session
        if known is not None:
            return known._go_on(admit)
        await tab.page.add_init_script(ONE_WINDOW)
        session = cls(tab, admit, limits, clock)
        tab.session = session if tab.name else None
        return session

    @property
    def url(self) -> str:
        return self._page.url

    async def goto(self, url: str) -> int:
        """The status of the answer; redirects are followed, each admitted first."""
        address = canonical(url, self._page.url)
        if address is None:
            raise FetchError("bad_url", f"{url[:200]!r} is not an http or https URL")
        async with self._within(self._limits.nav_timeout_s, "network_timeout", f"{address.url[:200]} did not load"):
            answer = await self._page.goto(address.url, wait_until="load", timeout=0)
        return answer.status if answer is not None else 0

    async def fill(self, selector: str, text: str) -> None:
        async with self._within(self._limits.selector_timeout_s, "element_not_found", f"no {selector!r} to fill in"):
            await self._page.locator(selector).first.fill(text, timeout=0)

    async def click(self, selector: str) -> None:
        """Waited for, then clicked; a page that this leads to is waited for as well."""
        async with self._within(self._limits.selector_timeout_s, "element_not_found", f"no {selector!r} to click"):
            await self._page.locator(selector).first.wait_for(timeout=0)
        async with self._within(self._limits.click_timeout_s, "click_timeout", f"{selector!r} cannot be clicked"):
            await self._page.locator(selector).first.click(timeout=0, no_wait_after=True)
        await self._clock.wait(max(CLICK_SHOWS_S, self._limits.post_click_wait_s))
        async with self._within(self._limits.nav_timeout_s, "network_timeout", f"{selector!r}: its page did not load"):
            while self._going and self._refusal is None:
                await self._clock.wait(CLICK_SHOWS_S)
            await self._page.wait_for_load_state("load", timeout=0)

    async def wait_for(self, selector: str = "", *, text: str = "", within_s: float | None = None) -> None:
        if not selector and not text:
            raise BadParams("wait_for(...) takes a selector, a text or both")
        wanted = self._page.locator(selector or "body").filter(has_text=text or None).first
        seconds = self._limits.selector_timeout_s if within_s is None else within_s
        async with self._within(seconds, "element_not_found", f"{selector or text!r} did not come up"):
            await wanted.wait_for(timeout=0)

    async def content(self) -> str:
        """Its length first: what is too large is not brought here at all."""
        html, bytes_max = None, self._limits.bytes_max
        async with self._within(READ_S, "network_timeout", "the page's scripts do not let it be read"):
            length = await self._page.evaluate(LENGTH)
            if isinstance(length, int) and length <= bytes_max:
                html = await self._page.content()
        if html is None or len(html) > bytes_max:
            raise FetchError("body_too_large", f"the page is larger than {bytes_max} bytes")
        return html

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        async with self._within(self._limits.nav_timeout_s, "network_timeout", "the script did not end"):
            return await self._page.evaluate(script, argument)

    def in_flight(self) -> frozenset[object]:
        return frozenset(request for request in self._tab.in_flight if request.resource_type in SCRIPTED)

    def ended(self) -> Mapping[object, bool | None]:
        return {request: how for request, how in self._tab.ended.items() if request.resource_type in SCRIPTED}

    def end(self) -> None:
        self._tab.on_document = None

    def _go_on(self, admit: Admit) -> PageSession:
        """Where an earlier target has left it."""
        self._admit, self._refusal, self._going = admit, None, 0
        self._tab.on_document = self._on_document
        return self

    @asynccontextmanager
    async def _within(self, seconds: float, code: str, message: str) -> AsyncIterator[None]:
        """A deadline with a code; and what a document was refused for, instead of the browser's word for it. It is the
        site's time: what a document waits for the turn of its host is not of it."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(None if self._admitting else seconds) as self._deadline:
                self._left_s = seconds
                yield
        except TimeoutError:
            self._raise_refusal()
            raise FetchError(code, f"browser: {message} in {seconds:g} s") from None
        except Error:
            self._raise_refusal()
            raise
        finally:
            self._deadline = None
        self._raise_refusal()

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        now = asyncio.get_running_loop().time
        self._admitting += 1
        deadline = self._deadline
        if deadline is not None and not deadline.expired() and (when := deadline.when()) is not None:
            self._left_s = when - now()
            deadline.reschedule(None)
        try:
            yield
        finally:
            self._admitting -= 1
            deadline = self._deadline  # may have come up meanwhile
            if deadline is not None and not deadline.expired() and not self._admitting:
                deadline.reschedule(now() + self._left_s)

    def _raise_refusal(self) -> None:
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    def _arrived(self, is_document: bool) -> None:
        if is_document:
            self._going = 0

    async def _on_document(self, event: Event) -> None:
        self._going += 1
        try:
            with self._standing_still():
                await self._admit(event["request"]["url"])
        except HoldfastError as refusal:
            self._refusal = refusal
            await self._tab.refuse(event)
            return
        await self._tab.let_go(event)
