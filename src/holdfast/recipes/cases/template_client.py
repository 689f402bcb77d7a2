"""A site with a URL per case (CAS-10): a 2xx answer is a record, 404 and 410 prove that there is none."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams
from holdfast.model.keys import Address
from holdfast.model.outcome import Record
from holdfast.model.target import Claimed
from holdfast.recipe import Fetch
from holdfast.recipes.cases.site_client import CASE, NumberAnswer, RawPage
from holdfast.recipes.cases.source import address_of, check_places
from holdfast.recipes.custom.fetching import StepPages

PLACEHOLDERS = ("prefix", "number", "year")
NO_RECORD_STATUS = (404, 410)
HINT = "--url 'https://court.example/{prefix}-{number}-{year}'"


class CaseRecord(msgspec.Struct, frozen=True):
    """CAS-10."""

    case: str
    url: str
    status_code: int
    sha256: str


class TemplateClient:
    """Fulfils `site_client.SiteClient`."""

    def __init__(self, template: str) -> None:
        self._template = template

    def address(self, case: str) -> Address:
        return address_of(self._template, case)

    async def look_up(self, here: Claimed, fetch: Fetch, clock: Clock) -> NumberAnswer:
        page = await StepPages(here, fetch, clock)(here.url, accept=NO_RECORD_STATUS)
        raw = RawPage(here.url, page.status, page.headers, page.body, page.media)
        return NumberAnswer(page.status not in NO_RECORD_STATUS, raw, page.status)

    def records(self, case: str, page: RawPage, search: dict[str, Any], seen_ms: int) -> tuple[Record, ...]:
        record = CaseRecord(case, page.url, page.status, sha256(page.content).hexdigest())
        return (Record(CASE, msgspec.json.encode(record)),)


def check_template(template: str, first: str) -> None:
    """BadParams where it gives no address for every case."""
    if not template:
        raise BadParams("cases needs the URL of a case, with its number in it", hint=HINT)
    if "://" not in template:
        raise BadParams(f"{template!r} is neither a configured source nor a URL", hint=HINT)
    try:
        check_places(template, "--url", PLACEHOLDERS)
        address_of(template, first)
    except BadParams as error:
        raise BadParams(error.message, hint=HINT) from None
