"""The tabs that pages are loaded in: so many at once, of one browser, which is started again when it crashed and
replaced when it has worked enough pages or taken too much memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.browser.gate import Gate
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.process import CLOSE_S, Chromium
from holdfast.fetch.browser.tab import Tab, TabSettings

log = logging.getLogger(__name__)

BACK_OFF_S = (0.0, 5.0, 15.0, 45.0)  # before a browser is started again; a page that was worked begins anew
LAUNCH_TRIES = 3
LOOK_AT_MEMORY_EVERY = 20  # pages
CLOSED = "has been closed"  # what Playwright says of a target that is gone, perhaps before it knows of the browser


class BrowserGone(Exception):
    """The browser or the page's own process died under a page."""


class Pool:
    """`async with pool.tab() as tab`. Beyond `limits.pages` callers wait."""

    def __init__(
        self, executable: Callable[[], str], gate: Gate, limits: BrowserLimits, settings: TabSettings, clock: Clock
    ) -> None:
        self._executable, self._gate, self._limits = executable, gate, limits
        self._settings, self._clock = settings, clock
        self._turns = asyncio.Semaphore(limits.pages)
        self._current: Chromium | None = None
        self._free: list[Tab] = []
        self._starting: asyncio.Task[Chromium] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._failures = 0  # one after the other, without a page between them
        self._is_closed = False
        self.starts = 0

    @property
    def pid(self) -> int | None:
        """Of the browser that is running."""
        return None if self._current is None else self._current.pid

    @asynccontextmanager
    async def tab(self, name: str = "") -> AsyncIterator[Tab]:
        """One that is used again afterwards, unless an error left the block. BrowserGone: try it once more.

        One with a name has the page that the last user of that name left there; nobody else is given it.
        """
        from playwright.async_api import Error

        async with self._turns:
            tab = await self._take(name)
            tab.chromium.in_use += 1
            try:
                yield tab
            except Error as error:
                await self._drop(tab)
                if tab.was_too_large:
                    raise FetchError("bomb", f"the page took more than {self._limits.process_mb} MB") from error
                if not tab.chromium.is_alive or tab.has_crashed or CLOSED in str(error):
                    raise BrowserGone(str(error).splitlines()[0]) from error
                raise FetchError("bad_response", f"the browser says: {str(error).splitlines()[0][:300]}") from error
            except BaseException:
                await self._drop(tab)
                raise
            else:
                await self._give_back(tab)
            finally:
                tab.chromium.in_use -= 1
                self._end_retired(tab.chromium)

    async def close(self) -> None:
        self._is_closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        current, self._current = self._current, None
        if current is not None:
            await current.close()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _take(self, name: str) -> Tab:
        chromium = await self._running()
        while fitting := [tab for tab in self._free if tab.name == name]:
            self._free.remove(fitting[-1])
            if fitting[-1].chromium is chromium and not fitting[-1].has_crashed:
                return fitting[-1]
        if len(self._free) >= self._limits.pages:
            await self._drop(self._free.pop(0))
        return await self._opened(chromium, name)

    async def _opened(self, chromium: Chromium, name: str) -> Tab:
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(self._limits.nav_timeout_s):
                tab = await Tab.open(chromium, self._settings)
                tab.name = name
                return tab
        except TimeoutError:
            self._retire(chromium)
            raise BrowserGone("it opens no page any more") from None
        except Error as error:
            if chromium.is_alive:
                self._retire(chromium)
            raise BrowserGone(str(error).splitlines()[0]) from error

    async def _running(self) -> Chromium:
        """The browser, started if there is none; all callers wait for the same start."""
        current = self._current
        if current is not None and current.is_alive and not current.is_retired:
            return current
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(current))
        return await asyncio.shield(self._starting)

    async def _start(self, before: Chromium | None) -> Chromium:
        if before is not None and not before.is_retired:
            log.warning("the browser is gone and is started again")
            self._failures += 1
            self._retire(before)
        for remaining in reversed(range(LAUNCH_TRIES)):
            await self._clock.wait(BACK_OFF_S[min(self._failures, len(BACK_OFF_S)) - 1] if self._failures else 0)
            try:
                self.starts += 1
                self._current = await Chromium.start(self._executable(), self._gate.port, self._limits, self._clock)
                return self._current
            except FetchError as error:
                self._failures += 1
                if not remaining:
                    raise
                log.warning("%s; tried again", error.message)
        raise AssertionError

    async def _give_back(self, tab: Tab) -> None:
        """Emptied of its page, and of what that stored."""
        from playwright.async_api import Error

        self._failures = 0
        chromium = tab.chromium
        chromium.pages += 1
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await tab.clear()
                if not chromium.is_retired and await self._is_worn(chromium):
                    self._retire(chromium)
                if not chromium.is_retired and not tab.is_spent:
                    self._free.append(tab)
                    return
        await self._drop(tab)

    async def _is_worn(self, chromium: Chromium) -> bool:
        if chromium.pages >= self._limits.recycle_pages:
            return True
        if chromium.pages % LOOK_AT_MEMORY_EVERY:
            return False
        return await chromium.memory_mb() > self._limits.recycle_mb

    async def _drop(self, tab: Tab) -> None:
        """A tab that cannot even be closed takes its browser with it."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(CLOSE_S):
                await tab.context.close()
        except TimeoutError:
            self._retire(tab.chromium)
        except Error:
            pass

    def _retire(self, chromium: Chromium) -> None:
        """No new page is begun with it; it ends with its last one."""
        chromium.is_retired = True
        self._free = [tab for tab in self._free if tab.chromium is not chromium]
        self._end_retired(chromium)

    def _end_retired(self, chromium: Chromium) -> None:
        if chromium.is_retired and (not chromium.in_use or not chromium.is_alive) and not chromium.is_ending:
            chromium.is_ending = True
            task = asyncio.create_task(chromium.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
