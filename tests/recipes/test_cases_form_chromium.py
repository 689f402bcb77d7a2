"""A court's form in Chromium, out of order: what the page shows then proves nothing about a number."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fetch.browsing import HTML, Site, in_browser
from holdfast.clock import SystemClock
from holdfast.errors import FetchError
from holdfast.fetch.browser.fetcher import BrowserFetcher
from holdfast.recipes.cases.form_client import FormClient
from holdfast.recipes.cases.source import CaseSource

NUMBER = "IMM-7-49"
PAGE = """<html><input id=selectCourtNumber><button id=tab02Submit onclick="fetch('/find')">Go</button>
<table id=datatable><tbody>{row}</tbody></table></html>"""
EMPTY = "<tr><td colspan=5>No data available in table</td></tr>"


async def looked_up(site: Site, fetcher: BrowserFetcher) -> bool:
    async def admit(url: str) -> None: ...

    class ByHand:
        def page(self, keep: str = "") -> Any:
            return fetcher.page(admit, keep)

    class Here:
        name = NUMBER

    client = FormClient(CaseSource(url=site.url("/"), client="form", settle=60))
    answer = await client.look_up(Here(), ByHand(), SystemClock())  # type: ignore[arg-type]
    return answer.is_hit


def page(row: str) -> tuple[int, dict[str, str], str]:
    return (200, HTML, PAGE.format(row=row))


def test_an_empty_table_is_a_miss_when_the_search_answered() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        assert not await looked_up(site, fetcher)

    in_browser({"/": page(EMPTY), "/find": (200, HTML, "[]")}, scene)


def test_a_search_that_the_page_gives_up_proves_no_absence_cas_07() -> None:
    """A time-out of the page's own is an aborted request, as of a search that the next one replaces."""

    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        site.holds["/find"] = asyncio.Event()
        with pytest.raises(FetchError) as failed:
            await looked_up(site, fetcher)
        assert failed.value.code == "incomplete_record"

    given_up = PAGE.replace("fetch('/find')", "fetch('/find', {{signal: AbortSignal.timeout(200)}})")
    in_browser({"/": (200, HTML, given_up.format(row=EMPTY))}, scene)


@pytest.mark.parametrize(("row", "status"), [(EMPTY, 500), ("", 200)], ids=["search fails", "no table"])
def test_a_search_that_is_out_of_order_proves_no_absence_cas_07(row: str, status: int) -> None:
    """The text of a miss stands there from the beginning, or there is nothing at all."""

    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        with pytest.raises(FetchError) as failed:
            await looked_up(site, fetcher)
        assert failed.value.code == "incomplete_record"

    in_browser({"/": page(row), "/find": (status, HTML, "[]")}, scene)
