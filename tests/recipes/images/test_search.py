"""A question put to an engine: tokens are renewed, patience is passed on, an engine that blocks us is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from holdfast.clock import ManualClock
from holdfast.demo.engines.shapes import SearchResult, duckduckgo, duckduckgo_page
from holdfast.errors import Blocked, FetchError
from holdfast.model.exchange import Headers, Response
from holdfast.model.outcome import Done
from holdfast.model.target import Claimed
from holdfast.recipe import Context
from holdfast.recipes.images.facts import AskedQuestion
from holdfast.recipes.images.held_engines import HOLD_MS, HeldEngines
from holdfast.recipes.images.search import search

ENGINES = ["google", "bing", "duckduckgo"]
CAPTCHA = b"<title>Access denied</title><p>Please solve the captcha.</p>"
RESULT = SearchResult(
    image="https://i.test/1.jpg", thumbnail="https://i.test/t", page="https://i.test/p", title="", width=9, height=9
)


class Engines:
    """Answers as the function says, and remembers what was asked."""

    def __init__(self, answer: Callable[[str], tuple[int, bytes]], headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._answer, self._headers, self.asked = answer, headers, list[str]()
        self.clock = ManualClock()
        self.held = HeldEngines(self.clock)

    async def __call__(self, url: str, headers: Headers = ()) -> Response:
        self.asked.append(url)
        status, body = self._answer(url)
        return Response(url=url, status=status, headers=(("content-type", "text/html"), *self._headers), body=body)

    async def send(self, request: Any) -> Response:
        return await self(request.url)

    def put(self, engine: str, offset: int = 0, engines: list[str] = ENGINES) -> Any:
        asked = AskedQuestion("cat", engine, 0, query="cat", offset=offset)
        here = Claimed(
            1, 1, 1, b"", "https://e.test/", "e.test", "search", 0, None, 0, 1, 1,
            params=msgspec.json.encode(asked).decode(),
        )  # fmt: skip
        context = Context(params={"origins": {}, "engines": engines}, salt=b"", chunking="key")
        return asyncio.run(search(here, self, context, self.clock, self.held))  # type: ignore[arg-type]


def tokens(url: str, stale: list[str]) -> tuple[int, bytes]:
    if "/i.js" not in url:
        return 200, duckduckgo_page("cat", f"4-{len(stale)}-new")
    if "vqd=4-0-new" in url and len(stale) < 1:
        stale.append(url)
        return 403, b"stale"
    return 200, duckduckgo([RESULT], "cat", "4-1-new", None)


def test_a_stale_token_is_renewed_and_the_same_page_asked_again() -> None:
    """Defect line 14 of the engines world."""
    stale: list[str] = []
    web = Engines(lambda url: tokens(url, stale))
    outcome = web.put("duckduckgo", offset=100)
    assert isinstance(outcome, Done)
    pages = [url for url in web.asked if "/i.js" in url]
    assert [("s=100" in url, url.partition("vqd=")[2][:7]) for url in pages] == [(True, "4-0-new"), (True, "4-1-new")]


def test_an_engine_that_asks_for_patience_says_how_long_and_is_not_held() -> None:
    """Defect line 13: the host waits as it asked; no other engine is concerned."""
    web = Engines(lambda url: (429, b"Too many requests."), (("retry-after", "7"),))
    with pytest.raises(FetchError) as error:
        web.put("google")
    assert (error.value.code, error.value.retry_after_s) == ("http_429", 7)
    with pytest.raises(FetchError):
        web.put("bing")
    assert len(web.asked) == 2


@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_an_engine_with_a_captcha_is_left_alone_and_the_others_are_asked(status: int) -> None:
    """ERR-02: one block page is enough, since no answer of an engine looks so."""
    web = Engines(lambda url: (status, CAPTCHA) if "google" in url else (404, b""))
    for _ in range(3):
        with pytest.raises(FetchError, match=r"google blocks us: it answered \d+ with a block page") as error:
            web.put("google")
        assert error.value.code == "engine_blocked"
    assert len(web.asked) == 1, "it is asked once, and then left alone"
    with pytest.raises(FetchError, match="HTTP 404"):
        web.put("bing")
    web.clock.advance(HOLD_MS / 1000 + 1)
    with pytest.raises(FetchError):
        web.put("google")
    assert len(web.asked) == 3, "after a while it is asked again"


def test_a_job_pauses_when_its_last_engine_blocks_it() -> None:
    web = Engines(lambda url: (200, CAPTCHA))
    with pytest.raises(FetchError, match="google blocks us"):
        web.put("google")
    with pytest.raises(FetchError):
        web.put("bing")
    with pytest.raises(Blocked, match="every search engine blocks us; the last: duckduckgo"):
        web.put("duckduckgo")
    with pytest.raises(Blocked, match="google blocks us"):
        web.put("google", engines=["google"])


def test_403_again_and_again_is_a_block_and_a_good_answer_in_between_is_none() -> None:
    answers = [(403, b"no")] * 2 + [(200, b"ok")] + [(403, b"no")] * 3
    web = Engines(lambda url: answers.pop(0))
    codes = []
    for _ in range(6):
        with pytest.raises(FetchError) as error:
            web.put("bing")
        codes.append(error.value.code)
    assert codes == ["http_403", "http_403", "answer_unreadable", "http_403", "http_403", "engine_blocked"]
