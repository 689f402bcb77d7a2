"""The site client in a browser, attempt by attempt: what is asked again, and what ends it; and once in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fetch.browsing import HTML, in_browser
from fetch.browsing import Site as BrowsedSite
from holdfast.errors import Blocked, Disallowed, FetchError, HoldfastError
from holdfast.fetch.browser.fetcher import BrowserFetcher
from holdfast.recipes.documents.browser_client import BrowserClient
from holdfast.recipes.documents.site_client import REFRESHES_MAX

HOME = "https://court.example/judgments/unreported-judgments/"
SIGNED = r'{"success": true, "data": {"fid": "https:\/\/f.box.com\/1?s=2"}}'
GOOD = {"status": 200, "body": SIGNED, "type": "", "wait": None}
REFUSED = {"status": 403, "body": "-1", "type": "text/html", "wait": None}
LISTED = '<html><script>var dl_object = {"security":"0123456789"};</script><a href="/">Home</a></html>'
BLOCK = "<html><h1>Access denied</h1>Please solve the captcha.</html>"


class Page:
    """Fulfils as much of BrowserPage as is needed. `answers` are those to the requests sent from within it."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def goto(self, url: str) -> int:
        assert url == HOME
        self.site.loads += 1
        return self.site.status

    async def content(self) -> str:
        return self.site.html

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        if argument is None:
            self.site.accepted += 1
            return None
        assert argument[0] == "https://court.example/wp-admin/admin-ajax.php"
        assert argument[1] == {"action": "dl_bfile", "fid": "T1", "fname": "T1", "security": "0123456789"}
        answer = next(self.site.answers)
        if isinstance(answer, HoldfastError):
            raise answer
        return answer


class Site:
    def __init__(self, *answers: Any, status: int = 200, html: str = LISTED) -> None:
        self.answers: Iterator[Any] = iter(answers)
        self.status, self.html = status, html
        self.loads = self.accepted = self.opened = 0
        self.kept: Page | None = None

    @asynccontextmanager
    async def page(self, keep: str = "") -> AsyncIterator[Page]:
        """As the browser has it: kept, unless an error leaves the block."""
        assert keep == HOME
        page, self.kept = self.kept or Page(self), None
        self.opened += 1
        yield page
        self.kept = page

    def asked(self, times: int = 1, barring: Callable[[Any], str] = lambda _: "") -> list[str]:
        client = BrowserClient(HOME, hosts=["box.com"], barring=barring)

        async def ask() -> list[str]:
            return [await client.address("T1", self, 0) for _ in range(times)]  # type: ignore[arg-type]

        return asyncio.run(ask())


def test_one_page_serves_case_after_case_and_is_loaded_anew_when_its_session_is_over() -> None:
    """DOC-17, DOC-18."""
    site = Site(GOOD, GOOD, REFUSED, GOOD, GOOD)
    assert site.asked(4) == ["https://f.box.com/1?s=2"] * 4
    assert (site.loads, site.accepted) == (2, 2)


def test_a_site_that_refuses_every_session_is_asked_so_often_and_no_more() -> None:
    site = Site(*[REFUSED] * 50)
    with pytest.raises(FetchError) as told:
        site.asked()
    assert (told.value.code, site.loads) == ("session_expired", REFRESHES_MAX + 1)


def test_a_browser_that_dies_is_replaced_within_the_attempt_so_often_and_no_more() -> None:
    """DOC-17: a target is not failed for a browser that was killed."""
    crash = FetchError("browser_crashed", "the browser was gone")
    site = Site(crash, crash, GOOD)
    assert len(site.asked()) == 1
    assert site.loads == 3  # every browser has its own page
    with pytest.raises(FetchError, match="was gone"):
        Site(crash, crash, crash, GOOD).asked()


@pytest.mark.parametrize(
    ("site", "said"),
    [
        (Site(GOOD, status=200, html=BLOCK), "captcha"),
        (Site(GOOD, status=403, html="<p>Forbidden</p>"), "answered 403"),
        (Site({"status": 403, "body": BLOCK, "type": "text/html", "wait": None}), "captcha"),
    ],
)
def test_a_block_means_the_job_and_not_the_case(site: Site, said: str) -> None:
    with pytest.raises(Blocked, match=said):
        site.asked()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"status": 0, "body": "TypeError: Failed to fetch"}, "network_error"),
        ({"status": 200, "body": "<h1>Error</h1>", "type": "text/html", "wait": None}, "answer_unreadable"),
        ({"status": 500, "body": "", "type": "", "wait": None}, "http_5xx"),
        ({"status": 429, "body": "", "type": "", "wait": "7"}, "http_429"),
    ],
)
def test_whatever_else_comes_is_a_failure_with_its_code(answer: dict[str, Any], code: str) -> None:
    with pytest.raises(FetchError) as told:
        Site(answer).asked()
    assert told.value.code == code
    assert told.value.retry_after_s == (7.0 if code == "http_429" else None)


def test_a_page_out_of_order_or_without_a_nonce_is_a_failure_with_its_code() -> None:
    for site, code in ((Site(status=503), "http_5xx"), (Site(html="<p>moved</p>"), "answer_unreadable")):
        with pytest.raises(FetchError) as told:
            site.asked()
        assert told.value.code == code


def test_robots_txt_holds_for_what_a_page_asks_for() -> None:
    """DOC-27: no other part of the program sees that request."""
    site = Site(GOOD)
    with pytest.raises(Disallowed, match="admin-ajax"):
        site.asked(barring=lambda address: "/wp-admin/" if address.path.startswith("/wp-admin/") else "")


BANNER = """<html><script>var dl_object = { security: '0123456789' };</script><div id=banner hidden>Cookies?
<button onclick="document.cookie = 'all=sold; path=/'">Accept</button></div><div><button>Accept nothing</button>
<button onclick="document.cookie = 'consent=yes; path=/'"> Accept all </button></div></html>"""


def test_in_chromium_the_banner_is_accepted_and_the_request_is_the_pages_own() -> None:
    """DOC-16: a button that cannot be seen is not clicked."""
    path, ajax = "/judgments/unreported-judgments/", "/wp-admin/admin-ajax.php"
    answers = {path: (200, HTML | {"Set-Cookie": "wp=1; Path=/; HttpOnly"}, BANNER), ajax: (200, HTML, SIGNED)}

    async def scene(site: BrowsedSite, fetcher: BrowserFetcher) -> None:
        async def admit(url: str) -> None: ...

        class ByHand:
            def page(self, keep: str) -> Any:
                return fetcher.page(admit, keep)

        client = BrowserClient(site.url(path), hosts=["box.com"])
        for _ in range(2):
            assert await client.address("T1", ByHand(), 0) == "https://f.box.com/1?s=2"  # type: ignore[arg-type]
        asked = [line for line in site.asked if line.endswith((path, "=0123456789"))]
        assert asked == [f"GET {path}", *[f"POST {ajax} action=dl_bfile&fid=T1&fname=T1&security=0123456789"] * 2]
        (head, _) = (head.lower() for head in site.heads if head.startswith("POST"))
        assert "x-requested-with: xmlhttprequest" in head
        assert "cookie: wp=1; consent=yes" in head

    in_browser(answers, scene)
