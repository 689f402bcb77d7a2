"""A court's form, query by query, without a browser: what proves a case or its absence, and what is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from holdfast.clock import ManualClock
from holdfast.demo.court.files import file_of
from holdfast.demo.court.pages import modal_of
from holdfast.errors import FetchError
from holdfast.model.codes import CODES
from holdfast.model.target import Claimed
from holdfast.recipes.cases import form_client
from holdfast.recipes.cases.form_client import QUERIES_MAX, FormClient
from holdfast.recipes.cases.site_client import NumberAnswer
from holdfast.recipes.cases.source import read_source

CASE, OTHER = "IMM-231-49", "IMM-23-49"
SOURCE = read_source({"url": "https://court.test/files", "client": "form"})
HERE = Claimed(
    id=1, chunk=1, epoch=1, key=b"", url=SOURCE.url, host="court.test", type="case", depth=0, parent=None, hops=0,
    attempts=1, generation=1, name=CASE,
)  # fmt: skip


IN_ORDER = {"busy": False}


class Page:
    """Fulfils as much of BrowserPage as is needed. After query n the table shows `tables[n]`, or the last one."""

    def __init__(self, *tables: list[str], row_is_gone: bool = False) -> None:
        self.tables, self.row_is_gone = tables, row_is_gone
        self.queries = 0

    @asynccontextmanager
    async def page(self, keep: str = "") -> AsyncIterator[Page]:
        yield self

    async def goto(self, url: str) -> int:
        return 200

    def in_flight(self) -> frozenset[object]:
        return frozenset()

    def ended(self) -> dict[object, bool | None]:
        return {}

    async def content(self) -> str:
        return "<table id=datatable></table>"

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        if script == form_client._ASK:
            self.queries += 1
        if script == form_client._LOOK:
            rows = self.tables[min(self.queries, len(self.tables)) - 1]
            return {"rows": [[number, f"{number} v. CROWN"] for number in rows], "there": True} | IN_ORDER
        if script == form_client._OPEN:
            return not self.row_is_gone
        return modal_of(file_of(7, 231)).decode() if script == form_client._MODAL else True

    def answer(self) -> NumberAnswer:
        return asyncio.run(FormClient(SOURCE).look_up(HERE, self, ManualClock()))  # type: ignore[arg-type]


class SlowPage(Page):
    """Every query loads for 1.5 s; then its table is empty for 1.5 s, and only then has its row."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__([])
        self.clock, self.asked_ms = clock, 0

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        if script == form_client._ASK:
            self.asked_ms = self.clock.monotonic_ms()
        waited = self.clock.monotonic_ms() - self.asked_ms
        if script == form_client._LOOK:
            rows = [[CASE, f"{CASE} v. CROWN"]] if waited >= 3_000 else []
            return {"rows": rows, "there": True, "busy": waited < 1_500}
        return await super().evaluate(script, argument)


def test_a_row_that_comes_late_after_a_slow_answer_is_waited_for() -> None:
    """Worlds 2, line 9: the time in which a miss may pass begins when nothing loads any more."""
    clock = ManualClock()
    page = SlowPage(clock)
    assert asyncio.run(FormClient(SOURCE).look_up(HERE, page, clock)).is_hit  # type: ignore[arg-type]


class UnansweredPage(SlowPage):
    """The same without an overlay that would show it, beside a request of the page that never ends."""

    def in_flight(self) -> frozenset[object]:
        is_loading = self.queries and self.clock.monotonic_ms() - self.asked_ms < 1_500
        return frozenset({"poll", self.queries} if is_loading else {"poll"})

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        answer = await super().evaluate(script, argument)
        return answer | {"busy": False} if script == form_client._LOOK else answer


def test_a_table_is_no_answer_while_the_query_is_in_flight() -> None:
    clock = ManualClock()
    page = UnansweredPage(clock)
    assert asyncio.run(FormClient(SOURCE).look_up(HERE, page, clock)).is_hit  # type: ignore[arg-type]


class AskingPage(Page):
    """Each query sends requests that end so, and the table has no rows."""

    def __init__(self, *how: bool | None) -> None:
        super().__init__([])
        self.how = how

    def ended(self) -> dict[object, bool | None]:
        return {(query, n): how for query in range(self.queries) for n, how in enumerate(self.how)}


@pytest.mark.parametrize("how", [(False,), (None,), (True, False)], ids=["error", "given up", "one of two"])
def test_an_empty_table_of_a_query_that_failed_is_no_answer(how: tuple[bool | None, ...]) -> None:
    with pytest.raises(FetchError) as failed:
        AskingPage(*how).answer()
    assert failed.value.code == form_client.INCOMPLETE


@pytest.mark.parametrize("how", [(True,), (True, None)], ids=["answered", "and a counter of another site is not"])
def test_an_empty_table_of_a_query_that_was_answered_is_a_miss(how: tuple[bool | None, ...]) -> None:
    assert not AskingPage(*how).answer().is_hit


def test_the_first_query_of_a_page_is_no_look_at_the_number() -> None:
    """Worlds 2, line 8: its input may have been empty. Two looks behind it prove an absence, and a late hit is one."""
    page = Page([])
    answer = page.answer()
    assert (answer.is_hit, page.queries) == (False, 3)
    assert [look["asked"] for look in answer.search["looks"]] == ["", CASE, CASE]
    assert Page([], [], [CASE]).answer().is_hit
    assert Page([CASE]).answer().search["title"] == f"{CASE} v. CROWN"


def test_the_row_of_the_case_before_answers_nothing() -> None:
    """Worlds 2, line 9."""
    assert Page([OTHER], [OTHER], [CASE]).answer().is_hit
    page = Page([OTHER])
    with pytest.raises(FetchError, match=f"the row of {OTHER} still stands there") as told:
        page.answer()
    assert (page.queries, CODES[told.value.code].retryable) == (QUERIES_MAX, True)


def test_a_row_that_is_gone_when_it_is_clicked_is_asked_for_again() -> None:
    """Worlds 2, line 10: a stale click is no answer."""
    with pytest.raises(FetchError, match="its row was gone") as told:
        Page([CASE], row_is_gone=True).answer()
    assert CODES[told.value.code].retryable
