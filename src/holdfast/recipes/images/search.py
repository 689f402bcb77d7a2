"""One question to one search engine: its page in, ranked candidates out."""

from __future__ import annotations

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, FetchError
from holdfast.model.codes import code_of_status
from holdfast.model.keys import canonical
from holdfast.model.outcome import Done, Outcome, Record
from holdfast.model.target import Claimed, Found
from holdfast.policy.blocking import block_page
from holdfast.policy.retry import read_retry_after
from holdfast.recipe import Context, Fetch, Page
from holdfast.recipes.custom.fetching import StepPages
from holdfast.recipes.images import facts
from holdfast.recipes.images.engines import engine
from holdfast.recipes.images.engines.answer import Engine, SearchRequest
from holdfast.recipes.images.facts import AskedQuestion, QuestionAnswer, as_json
from holdfast.recipes.images.held_engines import HeldEngines

STALE = 403  # of an engine with a token: it has grown stale
LOOKED_AT = (403, 429, 503)  # statuses that a block page may come with


def question_found(context: Context, asked: AskedQuestion, *, depth: int) -> Found:
    """A question as a target: known by engine, query and offset, so that it is put once."""
    asks = engine(asked.engine, context.params["origins"].get(asked.engine))
    address = canonical(asks.request(asked.query, asked.offset).url)
    if address is None:
        raise BadParams(f"engines.{asked.engine}.base_url is not an http or https URL")
    name = f"search {asked.engine} {asked.offset} {asked.query}"
    if asked.query != asked.keyword:
        name += f" ({asked.keyword})"
    return context.named(address, type=facts.SEARCH, name=name, depth=depth, params=as_json(asked), chunk=asked.keyword)


async def search(here: Claimed, fetch: Fetch, context: Context, clock: Clock, held: HeldEngines) -> Outcome:
    """The candidates that the engine names, as one record; what to fetch of them is for the judgement to say."""
    asked = msgspec.json.decode(here.params, type=AskedQuestion)
    asks = engine(asked.engine, context.params["origins"].get(asked.engine))
    engines: list[str] = context.params["engines"]
    held.refuse(asked.engine, engines)
    page = await _answered(asks, asked, StepPages(here, fetch, clock))
    held.look_at(asked.engine, page, engines)
    _judge(page, clock)
    read = asks.read(page.body, asked.offset)
    usable = [one for one in read.candidates if canonical(one.url) is not None]
    answer = QuestionAnswer(
        asked,
        tuple(asked.named(one) for one in usable),
        read.ends_variation,
        read.left_out + len(read.candidates) - len(usable),
    )
    return Done(
        "answer" if usable else "empty",
        records=(Record("answer", msgspec.json.encode(answer)),),
        status_code=page.status,
    )


async def _answered(asks: Engine, asked: AskedQuestion, pages: StepPages) -> Page:
    """A stale token is renewed, once, and the same page asked again."""
    first = asks.token_request(asked.query)
    if first is None:
        return await _get(pages, asks.request(asked.query, asked.offset))
    page: Page | None = None
    for _ in range(2):
        home = await _get(pages, first)
        if home.status in LOOKED_AT or block_page(home):
            return home
        page = await _get(pages, asks.request(asked.query, asked.offset, asks.read_token(home.body)))
        if page.status != STALE:
            return page
    assert page is not None
    return page


def _judge(page: Page, clock: Clock) -> None:
    """A status that was accepted only to look for a block, and turned out not to be one, fails as usual."""
    if page.status in LOOKED_AT:
        retry_after_s = read_retry_after(page.header("retry-after"), clock.wall_ms())
        code, said = code_of_status(page.status) or "bad_response", f"HTTP {page.status} at {page.url}"
        raise FetchError(code, said, status=page.status, retry_after_s=retry_after_s)


async def _get(pages: StepPages, request: SearchRequest) -> Page:
    return await pages(request.url, headers=request.headers, accept=LOOKED_AT)
