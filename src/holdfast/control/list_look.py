"""A look at a list: its file read, or its URL asked for as politely as any page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec

from holdfast.clock import Clock
from holdfast.control.list_turns import LEFT_ALONE, WAIT_MS_MAX, HostTurns
from holdfast.errors import FetchError
from holdfast.model.codes import CODES, code_of_status
from holdfast.model.exchange import NOT_MODIFIED, REDIRECTS, Request, Response
from holdfast.model.keys import canonical, origin_of
from holdfast.policy.politeness import ROBOTS_REDIRECTS_MAX, kept_of
from holdfast.policy.retry import read_retry_after
from holdfast.policy.robots import ROBOTS_PATH, Robots, read_robots
from holdfast.ports import Fetcher
from holdfast.recipes.documents.table import LIST_BYTES_MAX
from holdfast.recipes.documents.versions import Version

TRIES = 3
WAIT_S = 1.0
WAIT_S_MAX = WAIT_MS_MAX / 1000  # the longest wait of an interactive command; a host that asks for more is left alone
REDIRECTS_MAX = 5
FORBIDDEN = "robots"


class Got(msgspec.Struct, frozen=True):
    """What a look at a list gave. Neither a body nor `is_unchanged`: `error` says why; `is_away` where it is the web
    that did not give it. `error` is kept, and is the same sentence for the same failure; `told` has what this look
    alone can tell: durations, addresses, until when."""

    body: bytes | None = None
    is_unchanged: bool = False
    etag: str = ""
    last_modified: str = ""
    error: str = ""
    is_away: bool = False
    told: str = ""


def from_file(path: Path) -> Callable[[Version | None], Got]:
    """A list on this computer."""

    def look(good: Version | None) -> Got:
        try:
            if path.exists() and not path.is_file():  # a device or a pipe may never end
                return Got(error="the list cannot be read: it is not a file")
            if path.stat().st_size > LIST_BYTES_MAX:
                return Got(error=f"the list is larger than {LIST_BYTES_MAX:,} bytes")
            return Got(path.read_bytes())
        except OSError as error:
            return Got(error=f"the list cannot be read: {error.strerror}")

    return look


def from_url(
    url: str, open_fetcher: Callable[[], Fetcher], clock: Clock, turns: HostTurns, *, ignore_robots: bool = False
) -> Callable[[Version | None], Got]:
    """A list on the network: one conditional request where an earlier version is known (DOC-02). robots.txt holds for
    it as for the seeds of a crawl, which a person typed, too; and each request takes its host's turn."""

    def look(good: Version | None) -> Got:
        return asyncio.run(_ListWeb(open_fetcher(), clock, turns, ignore_robots=ignore_robots).fetched(url, good))

    return look


class _ListWeb:
    """One look over one fetcher."""

    def __init__(self, fetcher: Fetcher, clock: Clock, turns: HostTurns, *, ignore_robots: bool) -> None:
        self._fetcher, self._clock, self._turns, self._ignore_robots = fetcher, clock, turns, ignore_robots
        self._rules: dict[str, Robots] = {}  # by origin

    async def fetched(self, url: str, good: Version | None) -> Got:
        """What may pass is tried again, after the wait that the host asks for."""
        try:
            for attempt in range(1, TRIES + 1):
                try:
                    return await self._once(url, good)
                except FetchError as error:
                    wait_s = WAIT_S * attempt if error.retry_after_s is None else error.retry_after_s
                    if attempt == TRIES or not _may_pass(error.code) or wait_s > WAIT_S_MAX:
                        return _away(error)
                await self._clock.wait(wait_s)
            raise AssertionError
        finally:
            await self._fetcher.close()

    async def _once(self, url: str, good: Version | None) -> Got:
        conditions: list[tuple[str, str]] = []
        if good is not None and good.etag:
            conditions.append(("If-None-Match", good.etag))
        elif good is not None and good.last_modified:
            conditions.append(("If-Modified-Since", good.last_modified))
        response = await self._followed(Request(url, tuple(conditions)))
        if response.status == NOT_MODIFIED and good is not None:
            return Got(is_unchanged=True)
        if response.status != 200:
            raise self._refused(response, f"HTTP {response.status}")
        return Got(response.body, etag=response.header("etag") or "", last_modified=response.last_modified)

    async def _followed(self, request: Request) -> Response:
        status = 0
        for _ in range(REDIRECTS_MAX + 1):
            await self._admit(request.url)
            response = await self._turns.send(request, self._fetcher.fetch)
            there = canonical(response.header("location") or "about:blank", request.url)
            if response.status not in REDIRECTS or there is None:
                return response
            status = response.status
            request = request.redirected(there.url, status)
        raise FetchError("too_many_redirects", f"more than {REDIRECTS_MAX} redirects", status=status)

    async def _admit(self, url: str) -> None:
        origin = origin_of(url)
        if self._ignore_robots:
            return
        if origin not in self._rules:
            self._rules[origin] = await self._robots(origin)
        if rule := self._rules[origin].barring(url[len(origin) :]):
            raise FetchError(FORBIDDEN, f"robots.txt of {origin} forbids it ({rule}); --ignore-robots fetches it")

    async def _robots(self, origin: str) -> Robots:
        request = Request(origin + ROBOTS_PATH)
        response = await self._turns.send(request, self._fetcher.fetch)
        for _ in range(ROBOTS_REDIRECTS_MAX):
            there = canonical(response.header("location") or "about:blank", request.url)
            if response.status not in REDIRECTS or there is None:
                break
            request = request.redirected(there.url, response.status)
            response = await self._turns.send(request, self._fetcher.fetch)
        kept = kept_of(response.status, response.body)
        if kept is None:
            raise self._refused(response, f"robots.txt of {origin}: HTTP {response.status}")
        return read_robots(kept.body)

    def _refused(self, response: Response, message: str) -> FetchError:
        asked_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
        code = code_of_status(response.status) or "bad_response"
        return FetchError(code, message, status=response.status, retry_after_s=asked_s)


def _away(error: FetchError) -> Got:
    asked_s = error.retry_after_s or 0
    later = f", which asks for {asked_s:g} s of patience" if asked_s > WAIT_S_MAX else ""
    cannot = "the list cannot be fetched"
    return Got(error=f"{cannot}: {_lasting(error)}", is_away=True, told=f"{cannot}: {error.message}{later}")


def _lasting(error: FetchError) -> str:
    """Without what differs at each look: libcurl's words, for one, have durations and addresses."""
    if error.code == LEFT_ALONE:
        return "its host is left alone for a while"
    if error.status is None and error.code in CODES:
        return f"{CODES[error.code].meaning.partition(':')[0]} ({error.code})"
    return error.message


def _may_pass(code: str) -> bool:
    return code in CODES and CODES[code].retryable
