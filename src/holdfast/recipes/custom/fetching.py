"""The `fetch` that an author's step is handed, over the engine's guarded one: redirects followed, failures as codes."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Iterable
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any

from holdfast.clock import Clock
from holdfast.errors import FetchError, HoldfastError
from holdfast.model.codes import code_of_status
from holdfast.model.exchange import Response
from holdfast.model.keys import canonical
from holdfast.model.target import Claimed
from holdfast.policy.retry import read_retry_after
from holdfast.recipe import Fetch, Page
from holdfast.recipe.blame import line_of
from holdfast.recipes.site.charset import decode

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REDIRECTS_MAX = 10


class StepPages:
    """Fulfils `recipe.PageFetch` for one attempt. Each hop of a redirect is a request of its own, checked like any."""

    def __init__(self, here: Claimed, fetch: Fetch, clock: Clock) -> None:
        self._here, self._fetch, self._clock = here, fetch, clock
        self._calls: list[tuple[Coroutine[Any, Any, Page], str]] = []  # with the line of the step that made each
        self.own: Page | None = None  # the answer to the target's own URL, which is kept
        self.status: int | None = None
        self.stopped: HoldfastError | None = None  # what ended the attempt, even if the step caught it

    def __call__(self, url: str, *, accept: Iterable[int] = ()) -> Coroutine[Any, Any, Page]:
        asked = self._page(url, accept)
        self._calls.append((asked, line_of(sys._getframe(1))))
        return asked

    def not_awaited(self) -> str:
        """What to say of a call whose `await` was forgotten; it is closed, so that Python has nothing to add."""
        forgotten = [(call, line) for call, line in self._calls if getcoroutinestate(call) == CORO_CREATED]
        for call, _ in forgotten:
            call.close()
        return f"fetch(...) was not awaited: write `await fetch(...)`{forgotten[0][1]}" if forgotten else ""

    async def _page(self, url: str, accept: Iterable[int]) -> Page:
        address = canonical(url, self._here.url)
        if address is None:
            raise FetchError("bad_url", f"{url!r:.200} is no http or https URL")
        try:
            response = await self._followed(address.url)
        except FetchError:
            raise
        except HoldfastError as error:
            self.stopped = error
            raise
        self.status = response.status
        self._judge(response, frozenset(accept))
        page = Page(response, decode, asked=address.url)
        if self.own is None and address.url == self._here.url:
            self.own = page
        return page

    async def _followed(self, url: str) -> Response:
        for _ in range(REDIRECTS_MAX + 1):
            response = await self._fetch(url)
            if response.status not in REDIRECTS:
                return response
            there = canonical(response.header("location") or "about:blank", url)
            if there is None:
                raise FetchError("bad_url", f"{url} redirects to no http or https URL", status=response.status)
            url = there.url
        raise FetchError("too_many_redirects", f"more than {REDIRECTS_MAX} redirects, the last to {url}")

    def _judge(self, response: Response, accepted: frozenset[int]) -> None:
        if response.status in accepted or (200 <= response.status < 300 and response.status != 206):
            return
        code = code_of_status(response.status) or "bad_response"
        retry_after_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
        message = f"HTTP {response.status} at {response.url}"
        raise FetchError(code, message, status=response.status, retry_after_s=retry_after_s)
