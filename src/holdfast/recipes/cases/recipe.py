"""The `cases` recipe over plain HTTP: one GET per number of a range; there is a record, or there is provably none.

A range of any size is one plan row with a cursor: its plan is arithmetic, so that it goes on at any number at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams
from holdfast.model.job import ONE_PHASE, Phases
from holdfast.model.keys import Address, canonical
from holdfast.model.outcome import Body, Done, Outcome, Record
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch
from holdfast.recipes.cases.ids import Range, case_id, merged, read_range
from holdfast.recipes.custom.fetching import StepPages

PLACEHOLDERS = ("prefix", "number", "year")
NO_RECORD = (404, 410)
_PLACE = re.compile(r"\{([^{}]*)\}")
HINT = "--url 'https://court.example/{prefix}-{number}-{year}'"


class CaseRecord(msgspec.Struct, frozen=True):
    """CAS-10."""

    case: str
    url: str
    status_code: int
    sha256: str


class CasesRecipe:
    """Fulfils `recipe.AnyRecipe`. Params: `ranges` (texts) and `url` (a template)."""

    name = "cases"
    seeks = True
    names_targets = True
    compares = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name not in ("ranges", "url"):
                raise BadParams(f"cases have no parameter {name!r}", hint="ranges url")
        ranges = merged(read_range(text) for text in params.get("ranges", ()))
        if not ranges:
            raise BadParams("cases needs a range of case numbers", hint="holdfast cases IMM-1-25..IMM-500-25 --url …")
        template = params.get("url") or ""
        _check_template(template, ranges[0])
        return {"ranges": [str(each) for each in ranges], "url": template}

    def identity(self, params: dict[str, Any]) -> str:
        return f"cases:{params['url']} {' '.join(params['ranges'])}"

    def default_name(self, params: dict[str, Any]) -> str:
        return _ranges(params)[0].prefix

    def chunking(self, params: dict[str, Any]) -> str:
        """By key: a template names one host, unless the number stands in it."""
        return "host" if "{" in params["url"].partition("://")[2].partition("/")[0] else "key"

    def phases(self, params: dict[str, Any]) -> Phases:
        return ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        return False

    def planned_total(self, params: dict[str, Any]) -> int:
        return sum(len(each) for each in _ranges(params))

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        first = _ranges(params)[0]
        return (address_of(params["url"], first, first.first).url,)

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """CAS-09: from any number on, without counting up to it."""
        template = context.params["url"]
        for each in _ranges(context.params):
            for number in range(each.first + min(start, len(each)), each.last + 1):
                name = case_id(each.prefix, number, each.year)
                yield context.named(address_of(template, each, number), type="case", name=name)
            start = max(0, start - len(each))

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        page = await StepPages(here, fetch, self._clock)(here.url, accept=NO_RECORD)
        if page.status in NO_RECORD:
            return Done("no_record", status_code=page.status)
        digest = sha256(page.body)
        record = CaseRecord(here.name, here.url, page.status, digest.hexdigest())
        now_ms = self._clock.wall_ms()
        return Done(
            "record",
            body=Body(here.url, page.status, page.headers, page.body, digest.digest(), page.media, now_ms),
            records=(Record("case", msgspec.json.encode(record)),),
            status_code=page.status,
        )


def _ranges(params: dict[str, Any]) -> list[Range]:
    return [read_range(text) for text in params["ranges"]]


def address_of(template: str, each: Range, number: int) -> Address:
    """The URL of one case."""
    values = {"prefix": each.prefix, "number": str(number), "year": each.year}
    address = canonical(_PLACE.sub(lambda place: values[place[1]], template))
    if address is None:
        raise BadParams(f"--url {template!r} gives no http or https URL", hint=HINT)
    return address


def _check_template(template: str, first: Range) -> None:
    if not template:
        raise BadParams("cases needs the URL of a case, with its number in it", hint=HINT)
    if "://" not in template:
        raise BadParams(f"{template!r} is no configured source and no URL", hint=HINT)
    for place in _PLACE.findall(template):
        if place not in PLACEHOLDERS:
            known = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise BadParams(f"--url has no placeholder {{{place}}}; there are: {known}", hint=HINT)
    if "{number}" not in template:
        raise BadParams("--url needs {number}: else every case would have the same address", hint=HINT)
    address_of(template, first, first.first)
