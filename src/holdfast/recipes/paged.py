"""Work in a page of the browser that may be begun anew: a browser that dies under it costs nothing but time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from holdfast.errors import FetchError
from holdfast.model.browsing import BrowserPage
from holdfast.recipe import Fetch

CRASHED = "browser_crashed"
BROWSERS_MAX = 3  # that may die under one attempt
T = TypeVar("T")


async def in_page(fetch: Fetch, work: Callable[[BrowserPage], Awaitable[T]], *, keep: str = "") -> T:
    """What the work gives; after a crash it is begun anew in another browser, which the fetcher starts with its
    back-off. FetchError `browser_crashed` where the last one has died, too."""
    for remaining in reversed(range(BROWSERS_MAX)):
        try:
            async with fetch.page(keep=keep) as page:
                return await work(page)
        except FetchError as error:
            if error.code != CRASHED or not remaining:
                raise
    raise AssertionError
