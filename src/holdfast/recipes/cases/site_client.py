"""The seam between the cases recipe and a site: a number goes in, a case or the proof of its absence comes out.

Three clients fulfil it: a URL per case, a search endpoint over plain HTTP, a form worked in a browser. Whatever proves
neither is raised as a FetchError with its code, and is tried again or ends failed and visible; it is never a miss.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from holdfast.clock import Clock
from holdfast.model.exchange import Headers
from holdfast.model.keys import Address
from holdfast.model.outcome import Record
from holdfast.model.target import Claimed
from holdfast.recipe import Fetch

RECORD, NO_RECORD = "record", "no_record"
CASE = "case"  # the kind of record that is exported
SEARCH = "search"  # the kind of record that says what was seen of the search, kept beside hits and misses


class RawPage(msgspec.Struct, frozen=True, gc=False):
    """An answer as it came, kept with the target."""

    url: str
    status: int
    headers: Headers
    content: bytes
    media: str


class NumberAnswer(msgspec.Struct, frozen=True, gc=False):
    """What a site says of one number. `search` is the evidence: what was asked, which looks were taken, the row."""

    is_hit: bool
    page: RawPage | None
    status: int
    search: dict[str, Any] = {}


class SiteClient(Protocol):
    """One site. It holds nothing that another worker or a restart would miss."""

    def address(self, case: str) -> Address:
        """What the target of a case is known as, and whose host has the pace."""

    async def look_up(self, here: Claimed, fetch: Fetch, clock: Clock) -> NumberAnswer:
        """Ask for the case `here.name`."""

    def records(self, case: str, page: RawPage, search: dict[str, Any], seen_ms: int) -> tuple[Record, ...]:
        """What a kept page says, and nothing else: run again after a change of the parser, it asks for nothing.

        FetchError `incomplete_record` where it is no whole record of that case.
        """
