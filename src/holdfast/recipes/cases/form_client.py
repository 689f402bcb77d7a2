"""A court's search worked as a person would, in a browser: the number into the form, a look at the table, the modal.

Every attempt has a page of its own. The first query of a page may have been sent with an empty input, whatever the
field shows: it can prove a hit and never a miss.
"""

from __future__ import annotations

from typing import Any

from holdfast.clock import Clock
from holdfast.errors import Blocked, FetchError
from holdfast.model.browsing import BrowserPage
from holdfast.model.exchange import Response
from holdfast.model.keys import Address
from holdfast.model.outcome import Record
from holdfast.model.target import Claimed
from holdfast.policy.blocking import block_page
from holdfast.recipe import Fetch
from holdfast.recipes.cases.completeness import INCOMPLETE, Observation, SearchLook, judge_search
from holdfast.recipes.cases.court_records import case_records, evidence
from holdfast.recipes.cases.site_client import NumberAnswer, RawPage
from holdfast.recipes.cases.source import CaseSource
from holdfast.recipes.paged import in_page

QUERIES_MAX = 6
POLL_S = 0.05
MODAL_S = 10.0
LOADING_S = 5.0  # a look waits so long for an answer that is on its way; an overlay, or a request, may never end
HTML = "text/html; charset=utf-8"
# Clicks go by script: an overlay that never leaves must not keep them off, and a row that is drawn anew between a look
# and a click is the same row.
_ASK = """([tab, input, submit, number]) => {
  const at = selector => selector ? document.querySelector(selector) : null;
  if (!at(input) || !at(submit)) return false;
  if (at(tab)) at(tab).click();
  at(input).value = number;
  at(input).dispatchEvent(new Event('input', {bubbles: true}));
  at(input).dispatchEvent(new Event('change', {bubbles: true}));
  at(submit).click();
  return true;
}"""
_LOOK = """([row, busy]) => {
  const rows = [...document.querySelectorAll(row)].map(tr => [...tr.cells].map(td => td.textContent.trim()));
  const loading = busy ? document.querySelector(busy) : null;
  return {rows: rows.filter(cells => cells.length > 1), there: !!document.querySelector(row),
          busy: !!loading && getComputedStyle(loading).display !== 'none'};
}"""
_OPEN = """([row, open, number]) => {
  for (const tr of document.querySelectorAll(row)) {
    const button = tr.querySelector(open);
    if (tr.cells.length && tr.cells[0].textContent.trim() === number && button) { button.click(); return true; }
  }
  return false;
}"""
_MODAL = """selector => {
  const modal = document.querySelector(selector);
  return modal && modal.textContent.trim() ? modal.innerHTML : '';
}"""


class FormClient:
    """Fulfils `site_client.SiteClient`."""

    def __init__(self, source: CaseSource) -> None:
        self._source = source

    def address(self, case: str) -> Address:
        return self._source.address(case)

    async def look_up(self, here: Claimed, fetch: Fetch, clock: Clock) -> NumberAnswer:
        return await in_page(fetch, lambda page: self._seen(here.name, page, clock))

    async def _seen(self, case: str, page: BrowserPage, clock: Clock) -> NumberAnswer:
        form = _Form(self._source, case, page, clock)
        await form.begin()
        seen = await form.search()
        search = evidence(form.looks, seen.because, form.title)
        if seen.verdict == "hit":
            return NumberAnswer(is_hit=True, page=form.raw(await form.modal()), status=200, search=search)
        return NumberAnswer(is_hit=False, page=form.raw(await page.content()), status=200, search=search)

    def records(self, case: str, page: RawPage, search: dict[str, Any], seen_ms: int) -> tuple[Record, ...]:
        return case_records(self._source, case, page, search, seen_ms)


class _Form:
    """One page, for one number."""

    def __init__(self, source: CaseSource, case: str, page: BrowserPage, clock: Clock) -> None:
        self._source, self._case, self._page, self._clock = source, case, page, clock
        self.looks: list[Observation] = []
        self.title = ""
        self._queries = 0
        self._older: frozenset[object] = frozenset()  # requests that are not of the present query, such as a long poll

    async def begin(self) -> None:
        status = await self._page.goto(self._source.url)
        if status >= 400:
            await self._refuse(status)

    async def search(self) -> SearchLook:
        """Queries until what they show proves something; FetchError where even the last one does not."""
        seen = SearchLook("unsettled", "nobody looked")
        for _ in range(QUERIES_MAX):
            await self._ask()
            self.looks.append(await self._look())
            seen = judge_search(self._case, self.looks, settle_ms=self._source.settle)
            if seen.verdict != "unsettled":
                return seen
        raise FetchError(INCOMPLETE, f"{self._case}: {seen.because} after {self._queries} queries", status=200)

    async def modal(self) -> str:
        """What the case's own row opens, once there is something in it."""
        source = self._source
        if not await self._page.evaluate(_OPEN, [source.row, source.open, self._case]):
            raise FetchError(INCOMPLETE, f"{self._case}: its row was gone before it could be opened", status=200)
        for _ in range(round(MODAL_S / POLL_S)):
            if html := await self._page.evaluate(_MODAL, source.modal):
                return str(html)
            await self._still_there()
            await self._clock.wait(POLL_S)
        raise FetchError(INCOMPLETE, f"{self._case}: nothing came up in {source.modal}", status=200)

    def raw(self, html: str) -> RawPage:
        return RawPage(self._source.url, 200, (("content-type", HTML),), html.encode(), "text/html")

    async def _ask(self) -> None:
        source = self._source
        self._queries += 1
        self._older = self._page.in_flight() | self._page.ended().keys()
        if not await self._page.evaluate(_ASK, [source.tab, source.input, source.submit, self._case]):
            await self._refuse(200)

    async def _look(self) -> Observation:
        """The table once it shows the number's own row, or how it stands when the time for that is over.

        That time begins when nothing loads any more: a slow answer, too, may show a miss before its row.
        """
        asked_ms = self._clock.monotonic_ms()
        until_ms = asked_ms + self._source.settle
        while True:
            await self._clock.wait(POLL_S)
            # Both before the look, which then shows what became of the answer. A request is in one of them at any time.
            is_waiting = bool(self._page.in_flight() - self._older)
            is_refused = self._is_refused()
            table = await self._page.evaluate(_LOOK, [self._source.row, self._source.busy])
            if not table["there"]:
                await self._still_there()
            now_ms = self._clock.monotonic_ms()
            is_loading = is_waiting or table["busy"]
            if is_loading and now_ms < asked_ms + 1000 * LOADING_S:
                until_ms = now_ms + self._source.settle
            own = next((row for row in table["rows"] if row[0] == self._case), None)
            if own is not None:
                self.title = own[1]
            if own is not None or now_ms >= until_ms:
                numbers = tuple(row[0] for row in table["rows"])
                asked = "" if self._queries == 1 and own is None else self._case
                # A search that is out of order leaves an empty table, or none: that is not an answer.
                is_settled = table["there"] and not is_loading and not is_refused
                return Observation(asked, numbers, self._clock.wall_ms(), is_settled=is_settled)

    def _is_refused(self) -> bool:
        """Whether the query failed. A request of unknown outcome is a failure only where no other was answered well:
        then it was a search that the page gave up, and not a counter of another site."""
        ended = [how for request, how in self._page.ended().items() if request not in self._older]
        return False in ended or (None in ended and True not in ended)

    async def _still_there(self) -> None:
        """A page that is not an answer of the search replaces the whole page."""
        if not await self._page.evaluate("selector => !!document.querySelector(selector)", self._source.input):
            await self._refuse(200)

    async def _refuse(self, status: int) -> None:
        html = await self._page.content()
        answer = Response(url=self._source.url, status=403, headers=(("content-type", HTML),), body=html.encode())
        if status == 403 or block_page(answer):
            raise Blocked(f"{self._source.url} shows a block page: the site blocks this crawler")
        if status >= 500 or "maintenance" in html.lower():
            raise FetchError("http_5xx", f"{self._source.url} shows that it is out of order", status=status)
        if status in (401, 200) and "session" in html.lower():
            raise FetchError("session_expired", f"{self._source.url} knows our session no more", status=status)
        raise FetchError("answer_unreadable", f"{self._source.url} has no {self._source.input!r}", status=status)
