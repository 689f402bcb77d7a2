"""A court's search asked over plain HTTP: its endpoint for the rows, and the page of a case's entries.

The site lies in known ways: it says that there is none before the row arrives, answers with the row of the case before,
forgets its session. One answer proves nothing but a hit; `completeness` says when a miss is proved.
"""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import Blocked, FetchError
from holdfast.model.keys import Address
from holdfast.model.outcome import Record
from holdfast.model.target import Claimed
from holdfast.recipe import Fetch, Page
from holdfast.recipes.cases.completeness import INCOMPLETE, Observation, SearchLook, judge_search
from holdfast.recipes.cases.court_records import case_records, evidence
from holdfast.recipes.cases.site_client import NumberAnswer, RawPage
from holdfast.recipes.cases.source import CaseSource, address_of
from holdfast.recipes.custom.fetching import StepPages

LOOKS_MAX = 6
SESSIONS_MAX = 3  # begun within one attempt; others of the job share them, and may lose them
UNKNOWN_SESSION, FORBIDDEN = 401, 403
_AS_SCRIPT = {"X-Requested-With": "XMLHttpRequest"}


class SearchClient:
    """Fulfils `site_client.SiteClient`. The session is a cookie, kept by the job's fetcher."""

    def __init__(self, source: CaseSource) -> None:
        self._source = source

    def address(self, case: str) -> Address:
        return self._source.address(case)

    async def look_up(self, here: Claimed, fetch: Fetch, clock: Clock) -> NumberAnswer:
        asking = _Asking(self._source, here, StepPages(here, fetch, clock), clock)
        seen = await asking.search()
        search = evidence(asking.looks, seen.because, asking.title)
        if seen.verdict != "hit":
            assert asking.last is not None
            return NumberAnswer(is_hit=False, page=_raw(asking.last), status=asking.last.status, search=search)
        page = _raw(await asking.get(address_of(self._source.detail, here.name).url))
        return NumberAnswer(is_hit=True, page=page, status=page.status, search=search)

    def records(self, case: str, page: RawPage, search: dict[str, Any], seen_ms: int) -> tuple[Record, ...]:
        return case_records(self._source, case, page, search, seen_ms)


class _Asking:
    """One attempt at one number."""

    def __init__(self, source: CaseSource, here: Claimed, pages: StepPages, clock: Clock) -> None:
        self._source, self._here, self._pages, self._clock = source, here, pages, clock
        self.looks: list[Observation] = []
        self.last: Page | None = None
        self.title = ""
        self._sessions = 0

    async def search(self) -> SearchLook:
        """Looks until they prove something. FetchError where even the last one does not."""
        seen = SearchLook("unsettled", "nobody looked")
        for _ in range(LOOKS_MAX):
            if self.looks:
                await self._clock.wait(self._wait_s())
            self.last = await self.get(self._here.url)
            self._look(self.last)
            seen = judge_search(self._here.name, self.looks, settle_ms=self._source.settle)
            if seen.verdict != "unsettled":
                return seen
        raise FetchError(INCOMPLETE, f"{self._here.name}: {seen.because} after {len(self.looks)} looks", status=200)

    async def get(self, url: str) -> Page:
        """An answer of the session. One that the site has forgotten is begun again within the attempt."""
        while True:
            page = await self._pages(url, accept=(UNKNOWN_SESSION, FORBIDDEN), headers=_AS_SCRIPT)
            _refuse_forbidden(page)
            if page.status != UNKNOWN_SESSION:
                return page
            if self._sessions >= SESSIONS_MAX:
                raise FetchError(
                    "session_expired", f"{url} knows none of {SESSIONS_MAX} new sessions", status=page.status
                )
            self._sessions += 1
            _refuse_forbidden(await self._pages(self._source.url, accept=(FORBIDDEN,)))

    def _wait_s(self) -> float:
        """A miss counts when it has lasted: the next look comes that much later than the first of them."""
        return 0.0 if self.looks[-1].rows else self._source.settle / 1000

    def _look(self, page: Page) -> None:
        source, case = self._source, self._here.name
        answer, rows = _rows(page, source)
        asked = str(answer.get(source.echo, "")) if source.echo else case
        numbers = tuple(str(row.get(source.number, "")) for row in rows)
        self.title = next((str(row.get(source.title, "")) for row in rows if row.get(source.number) == case), "")
        self.looks.append(Observation(asked, numbers, self._clock.wall_ms()))


def _rows(page: Page, source: CaseSource) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The answer, and its rows; FetchError where it has another shape: that is not a miss."""
    try:
        answer = msgspec.json.decode(page.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    rows = answer.get(source.rows) if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FetchError("answer_unreadable", f"{page.url} gave no list {source.rows!r} of rows", status=page.status)
    return answer, rows


def _refuse_forbidden(page: Page) -> None:
    """A search that is forbidden to us is forbidden for every number: the job waits for a person."""
    if page.status == FORBIDDEN:
        raise Blocked(f"{page.url.partition('?')[0]} answered 403: the site blocks this crawler")


def _raw(page: Page) -> RawPage:
    return RawPage(page.url, page.status, page.headers, page.body, page.media)
