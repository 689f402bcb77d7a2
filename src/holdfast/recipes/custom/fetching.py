"""The `fetch` that an author's step is handed, over the engine's guarded one: redirects followed, failures as codes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, TypeVar

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, FetchError, HoldfastError
from holdfast.model.artifact import FILE_BYTES_MAX, FetchedFile
from holdfast.model.browsing import BrowserPage
from holdfast.model.codes import code_of_status
from holdfast.model.exchange import GET, METHODS, POST, REDIRECTS, Request, Response
from holdfast.model.keys import canonical, is_plain
from holdfast.model.redaction import redacted_text
from holdfast.model.target import Claimed
from holdfast.policy.retry import read_retry_after
from holdfast.recipe import Fetch, Page
from holdfast.recipe.blame import line_of
from holdfast.recipes.site.charset import decode

REDIRECTS_MAX = 10
A = TypeVar("A", Response, FetchedFile)


class StepPages:
    """Fulfils `recipe.PageFetch` for one attempt. Each hop of a redirect is a request of its own, checked like any."""

    def __init__(self, here: Claimed, fetch: Fetch, clock: Clock) -> None:
        self._here, self._fetch, self._clock = here, fetch, clock
        self._calls: list[tuple[Coroutine[Any, Any, Any], str]] = []  # with the line of the step that made each
        self.own: Page | None = None  # the answer to the target's own URL, which is kept
        self.status: int | None = None
        self.stopped: HoldfastError | None = None  # what ended the attempt, even if the step caught it

    def __call__(
        self,
        url: str,
        *,
        accept: Iterable[int] = (),
        method: str = "",
        data: Mapping[str, str] | bytes | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, Page]:
        asked = self._page(self._request(url, method, data, json, headers), accept)
        self._calls.append((asked, line_of(sys._getframe(1))))
        return asked

    def file(
        self,
        url: str,
        *,
        into: str = "",
        max_bytes: int = FILE_BYTES_MAX,
        total_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, FetchedFile]:
        limits = {"into": into, "max_bytes": max_bytes, "total_s": total_s}
        request = self._request(url, "", None, None, headers)
        asked = self._file(request, limits, known="" if into else request.url)
        self._calls.append((asked, line_of(sys._getframe(1))))
        return asked

    @asynccontextmanager
    async def page(self) -> AsyncIterator[BrowserPage]:
        try:
            async with self._fetch.page() as page:
                yield page
        except FetchError:
            raise
        except HoldfastError as error:
            self.stopped = error
            raise

    def _request(
        self,
        url: str,
        method: str,
        data: Mapping[str, str] | bytes | None,
        json: Any,
        headers: Mapping[str, str] | None,
    ) -> Request:
        address = canonical(url, None if is_plain(url) else self._here.url)
        if address is None:
            raise FetchError("bad_url", f"{url!r:.200} is not an http or https URL")
        if data is not None and json is not None:
            raise BadParams("fetch(...) takes data or json, not both")
        said = tuple((headers or {}).items())
        if json is not None:
            request = Request.json(address.url, json, said)
        elif isinstance(data, Mapping):
            request = Request.form(address.url, data, said)
        else:
            request = Request(address.url, said, POST if data is not None else GET, data or b"")
        if method and method.upper() not in METHODS:
            raise BadParams(f"fetch(...) knows no method {method!r:.40}", hint=" ".join(METHODS))
        return msgspec.structs.replace(request, method=method.upper()) if method else request

    def not_awaited(self) -> str:
        """What to say of a call whose `await` was forgotten; it is closed, so that Python has nothing to add."""
        forgotten = [(call, line) for call, line in self._calls if getcoroutinestate(call) == CORO_CREATED]
        for call, _ in forgotten:
            call.close()
        return f"fetch(...) was not awaited: write `await fetch(...)`{forgotten[0][1]}" if forgotten else ""

    async def _page(self, request: Request, accept: Iterable[int]) -> Page:
        response = await self._followed(request, self._answer)
        self.status = response.status
        self._judge(response, frozenset(accept))
        page = Page(response, decode, asked=request.url)
        if self.own is None and request.is_plain and request.url == self._here.url:
            self.own = page
        return page

    async def _answer(self, request: Request) -> Response:
        return await (self._fetch(request.url, request.headers) if request.is_plain else self._fetch.send(request))

    async def _file(self, request: Request, limits: dict[str, Any], *, known: str) -> FetchedFile:
        """Files are where addresses are signed. One that changes from try to try is, and one that a redirect leads to
        may be: only the `known` one, which is the target's own, is told as it stands."""
        try:
            fetched = await self._followed(request, lambda hop: self._fetch.file(hop, **limits))
            self.status = fetched.status
            if not fetched:
                self._judge(fetched, frozenset())
        except HoldfastError as error:
            error.message = redacted_text(error.message, known)
            error.args = (error.message,)
            raise
        return fetched

    async def _followed(self, request: Request, ask: Callable[[Request], Awaitable[A]]) -> A:
        try:
            for _ in range(REDIRECTS_MAX + 1):
                answer = await ask(request)
                if answer.status not in REDIRECTS:
                    return answer
                there = canonical(answer.header("location") or "about:blank", request.url)
                if there is None:
                    message = f"{request.url} redirects to no http or https URL"
                    raise FetchError("bad_url", message, status=answer.status)
                request = request.redirected(there.url, answer.status)
        except FetchError:
            raise
        except HoldfastError as error:
            self.stopped = error
            raise
        raise FetchError("too_many_redirects", f"more than {REDIRECTS_MAX} redirects, the last to {request.url}")

    def _judge(self, response: Response | FetchedFile, accepted: frozenset[int]) -> None:
        if response.status in accepted or (200 <= response.status < 300 and response.status != 206):
            return
        code = code_of_status(response.status) or "bad_response"
        retry_after_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
        message = f"HTTP {response.status} at {response.url}"
        raise FetchError(code, message, status=response.status, retry_after_s=retry_after_s)
