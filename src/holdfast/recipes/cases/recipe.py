"""The `cases` recipe: every number of a range is a record, a proven absence, or failed and visible.

A range of any size is one plan row with a cursor: its plan is arithmetic, so that it goes on at any number at once. The
end of an open range is found by what its numbers lead to (`probing`). How a site is asked is a `SiteClient`'s affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams
from holdfast.model.job import ONE_PHASE, Phases
from holdfast.model.outcome import Body, Done, Outcome, Record
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch
from holdfast.recipe.contract import Kept
from holdfast.recipes.cases.ids import SAFE_STOP_MAX, Range, case_id, case_parts, merged, number_of, read_range
from holdfast.recipes.cases.options import OWN_PARAMS
from holdfast.recipes.cases.probing import SAFE_STOP, Next, first_numbers, next_numbers, params_of, read_leap
from holdfast.recipes.cases.site_client import NO_RECORD, RECORD, SEARCH, NumberAnswer, RawPage, SiteClient
from holdfast.recipes.cases.source import FORM, document, read_source
from holdfast.recipes.cases.template_client import TemplateClient, check_template

PARAMS = ("ranges", "source", *OWN_PARAMS)


class CasesRecipe:
    """Fulfils `recipe.AnyRecipe`. Params: `ranges` (texts), `url` (a template) or `source` (a court's search)."""

    name = "cases"
    seeks = True
    names_targets = True
    compares = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name not in PARAMS:
                raise BadParams(f"cases have no parameter {name!r}", hint=" ".join(PARAMS))
        ranges = merged(read_range(text) for text in params.get("ranges", ()))
        if not ranges:
            raise BadParams("cases needs a range of case numbers", hint="holdfast cases IMM-1-25..IMM-500-25 --url …")
        checked = {name: value for name, value in params.items() if value is not None}
        checked |= {"ranges": [str(each) for each in ranges], "url": params.get("url") or ""}
        if checked.pop("source", None):
            source = read_source(params["source"])
            checked |= {"url": source.url, "source": document(source)}
        else:
            check_template(checked["url"], case_id(ranges[0].prefix, ranges[0].first, ranges[0].year))
        safe_stop = params.get("safe_stop") or SAFE_STOP
        if not 1 <= safe_stop <= SAFE_STOP_MAX:
            raise BadParams(f"safe_stop is a number from 1 to {SAFE_STOP_MAX:,}")
        if checked.pop("safe_stop", None) and safe_stop != SAFE_STOP:  # other jobs keep the params that they had
            checked["safe_stop"] = safe_stop
        return checked

    def identity(self, params: dict[str, Any]) -> str:
        return f"cases:{params['url']} {' '.join(params['ranges'])}"

    def default_name(self, params: dict[str, Any]) -> str:
        return ranges_of(params)[0].prefix

    def chunking(self, params: dict[str, Any]) -> str:
        """By key: a template names one host, unless the number stands in it."""
        return "host" if "{" in params["url"].partition("://")[2].partition("/")[0] else "key"

    def phases(self, params: dict[str, Any]) -> Phases:
        return ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        return False

    def planned_total(self, params: dict[str, Any]) -> int | None:
        ranges = ranges_of(params)
        return None if any(each.is_open for each in ranges) else sum(len(each) for each in ranges)

    def chunks(self, params: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        first = ranges_of(params)[0]
        return (client_of(params).address(case_id(first.prefix, first.first, first.year)).url,)

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """CAS-09: from any number on, without counting up to it."""
        client, safe_stop = client_of(context.params), _safe_stop(context.params)
        for each in ranges_of(context.params):
            if each.is_open:
                numbers = first_numbers(each, safe_stop)
                yield from (_target(context, client, each, number) for number in numbers[start:])
                start = max(0, start - len(numbers))
                continue
            for number in range(each.first + min(start, len(each)), each.last + 1):
                yield _target(context, client, each, Next(number))
            start = max(0, start - len(each))

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        client = client_of(context.params)
        answer = await client.look_up(here, fetch, self._clock)
        now_ms = self._clock.wall_ms()
        kept = [Record(SEARCH, msgspec.json.encode(answer.search))] if answer.search else []
        if answer.is_hit:
            assert answer.page is not None
            kept[:0] = client.records(here.name, answer.page, answer.search, now_ms)
        return Done(
            RECORD if answer.is_hit else NO_RECORD,
            body=None if answer.page is None else _body(answer.page, now_ms),
            records=tuple(kept),
            found=tuple(_found(here, answer, client, context)),
            status_code=answer.status,
        )

    async def reparse(self, here: Claimed, kept: Kept, context: Context) -> Outcome:
        """The record in the stored page, as the parser reads it today. What the search showed is not on that page."""
        seen = tuple(record for record in kept.records if record.kind == SEARCH)
        search = msgspec.json.decode(seen[0].doc) if seen else {}
        body = kept.body
        page = RawPage(body.url, body.status, body.headers, body.content, body.media)
        records = client_of(context.params).records(here.name, page, search, body.fetched_at)
        return Done(RECORD, records=(*records, *seen), status_code=body.status)


def client_of(params: dict[str, Any]) -> SiteClient:
    if not params.get("source"):
        return TemplateClient(params["url"])
    source = read_source(params["source"])
    if source.client == FORM:
        from holdfast.recipes.cases.form_client import FormClient

        return FormClient(source)
    from holdfast.recipes.cases.search_client import SearchClient

    return SearchClient(source)


def ranges_of(params: dict[str, Any]) -> list[Range]:
    return [read_range(text) for text in params["ranges"]]


def _safe_stop(params: dict[str, Any]) -> int:
    return int(params.get("safe_stop", SAFE_STOP))


def _target(context: Context, client: SiteClient, each: Range, item: Next) -> Found:
    """Claimed in the order of the numbers, but leaps first: they say how much there is to do."""
    name = case_id(each.prefix, item.number, each.year)
    found = context.named(client.address(name), type="case", name=name, params=params_of(item.leap))
    return msgspec.structs.replace(found, rank=0 if item.leap else item.number)


def _found(here: Claimed, answer: NumberAnswer, client: SiteClient, context: Context) -> Iterator[Found]:
    """The numbers that this one leads to, where it lies in an open range."""
    prefix, _, year = case_parts(here.name)
    number, leap = number_of(here.name), read_leap(here.params)
    for each in ranges_of(context.params):
        if each.is_open and (each.prefix, each.year) == (prefix, year) and number >= each.first:
            more = next_numbers(
                number, is_hit=answer.is_hit, last=each.last, leap=leap, safe_stop=_safe_stop(context.params)
            )
            yield from (_target(context, client, each, item) for item in more)


def _body(page: RawPage, now_ms: int) -> Body:
    return Body(page.url, page.status, page.headers, page.content, sha256(page.content).digest(), page.media, now_ms)
