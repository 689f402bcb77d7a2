"""A fetcher and a hostile site for the length of one test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fetch.hostile import HostileSite
from holdfast.clock import SystemClock
from holdfast.errors import FetchError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.model.exchange import Budget, Request, Response

TEST_S_MAX = 8.0
# Short enough for a test that waits for a deadline, long enough for a busy computer.
BUDGET = Budget(total_s=5.0, body_bytes_max=1_000_000)


def make_fetcher(guard: Guard, *, budget: Budget = BUDGET, concurrency: int = 4, **more: Any) -> HttpFetcher:
    return HttpFetcher(guard, budget, "holdfast-test", concurrency=concurrency, clock=SystemClock(), **more)


@asynccontextmanager
async def fetching(guard: Guard, **more: Any) -> AsyncIterator[HttpFetcher]:
    fetcher = make_fetcher(guard, **more)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def on_site(scene: Callable[[HostileSite, HttpFetcher], Awaitable[None]], **more: Any) -> None:
    """Play a scene with a site and a fetcher that may reach it."""

    async def play() -> None:
        async with (
            asyncio.timeout(TEST_S_MAX),
            HostileSite() as site,
            fetching(Guard(allow=(site.address,)), **more) as fetcher,
        ):
            await scene(site, fetcher)

    asyncio.run(play())


def ask(path: str, *, budget: Budget = BUDGET) -> Response | FetchError:
    """What one path of a hostile site ends in, for this fetcher; a neighbour page succeeds after it each time."""
    endings: list[Response | FetchError] = []

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        endings.append(await ending(fetcher, site.url(path)))
        assert (await fetcher.fetch(Request(site.url("/ok")))).status == 200

    on_site(scene, budget=budget)
    return endings[0]


async def ending(fetcher: HttpFetcher, url: str) -> Response | FetchError:
    try:
        return await fetcher.fetch(Request(url))
    except FetchError as failure:
        return failure


async def code_of(fetcher: HttpFetcher, url: str) -> str:
    """The failure code, or `none` for an answer."""
    end = await ending(fetcher, url)
    return end.code if isinstance(end, FetchError) else "none"
