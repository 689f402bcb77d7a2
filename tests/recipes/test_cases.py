"""Case numbers: ranges that every number of lies in once, and a plan that begins at any of them."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import BadParams, FetchError
from holdfast.model.exchange import Headers, Response
from holdfast.model.outcome import Done, Outcome
from holdfast.model.target import Claimed
from holdfast.recipe import Context
from holdfast.recipes.cases.ids import Range, is_range, merged, read_range
from holdfast.recipes.cases.recipe import CasesRecipe

RECIPE = CasesRecipe(ManualClock())
COURT = "https://court.test/{prefix}/{number}?year={year}"


def make_context(*ranges: str) -> Context:
    return Context(params=RECIPE.check({"ranges": list(ranges), "url": COURT}), salt=b"s" * 16, chunking="key")


def outcome_of(
    status: int, body: bytes = b"<h1>case</h1>", *, name: str = "IMM-7-25", params: str = "", ranges: str = "IMM-7-25"
) -> Outcome:
    """What a recipe that has just been made says of one number."""
    here = Claimed(
        id=1, chunk=1, epoch=1, key=b"", url="https://court.test/IMM/7?year=25", host="court.test", type="case",
        depth=0, parent=None, hops=0, attempts=1, generation=1, name=name, params=params,
    )  # fmt: skip

    async def fetch(url: str, headers: Headers = ()) -> Response:
        return Response(url=url, status=status, headers=(("content-type", "text/html"),), body=body)

    return asyncio.run(CasesRecipe(ManualClock()).step(here, fetch, make_context(ranges)))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("IMM-1-25..IMM-5000-25", Range("IMM", "25", 1, 5000)),
        ("imm-231-25", Range("IMM", "25", 231, 231)),
        ("T-0-05..T-9-05", Range("T", "05", 0, 9)),
    ],
)
def test_a_range_is_read_as_typed(text: str, made: Range) -> None:
    """CAS-01."""
    assert read_range(text) == made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("IMM-0231-25", "no leading zeros"),
        ("IMM-1-2025", "two digits"),
        ("IMM-1-25..IMM-9-26", "one prefix and year"),
        ("IMM-1-25..TRV-9-25", "one prefix and year"),
        ("IMM-9-25..IMM-1-25", "first before the last"),
        ("IMM--1-25", "not a case number"),
        ("frogs", "not a case number"),
        ("IMM-1-255", "two digits"),
        ("IMM-1-25..IMM-100000-25", "from 0 to 99,999"),
        ("IMM-1-25..IMM-*-26", "one prefix and year"),
    ],
)
def test_what_is_no_range_is_refused_with_the_reason(text: str, said: str) -> None:
    """CAS-01: invalid ones are refused at submit."""
    with pytest.raises(BadParams, match=said):
        read_range(text)


@pytest.mark.parametrize("text", ["IMM-" + "0" * 100_000, "IMM-" + "0" * 100_000 + "7-25"], ids=["cut", "whole"])
def test_zeros_without_end_are_read_in_linear_time(text: str) -> None:
    began = time.process_time()
    assert is_range(text) == text.endswith("-25")
    with pytest.raises(BadParams, match=r"not a case number|no leading zeros"):
        read_range(text)
    assert time.process_time() - began < 1


def test_an_open_range_takes_so_many_numbers_from_its_start() -> None:
    """CAS-08: s … s+m−1."""
    assert read_range("IMM-*-25", 10, 5) == Range("IMM", "25", 10, 14)
    assert read_range("IMM-*-25") == Range("IMM", "25", 1, 99_999, is_open=True) == read_range("IMM-1-25..IMM-*-25")
    assert str(read_range("IMM-*-25", 10)) == "IMM-10-25..IMM-*-25"
    with pytest.raises(BadParams, match="go with PREFIX"):
        read_range("IMM-1-25..IMM-9-25", 1, 5)


def test_overlapping_ranges_have_every_number_once() -> None:
    ranges = [read_range(text) for text in ("IMM-5-25..IMM-9-25", "IMM-1-25..IMM-5-25", "IMM-10-25", "IMM-1-24")]
    assert [str(each) for each in merged(ranges)] == ["IMM-1-24", "IMM-1-25..IMM-10-25"]


def test_the_plan_has_every_number_once_in_order() -> None:
    context = make_context("IMM-8-25..IMM-11-25", "IMM-2-24")
    found = [(item.name, item.origin + item.path) for item in RECIPE.plan(context)]
    assert found[0] == ("IMM-2-24", "https://court.test/IMM/2?year=24")
    assert [name for name, _ in found[1:]] == ["IMM-8-25", "IMM-9-25", "IMM-10-25", "IMM-11-25"]
    assert RECIPE.planned_total(context.params) == 5


@pytest.mark.parametrize("start", range(6))
def test_the_plan_goes_on_at_any_number(start: int) -> None:
    """CAS-09: the same plan after a resume."""
    context = make_context("IMM-8-25..IMM-11-25", "IMM-2-24")
    assert list(RECIPE.plan(context, start)) == list(RECIPE.plan(context))[start:]


def test_the_plan_of_a_huge_range_begins_at_its_cursor_at_once() -> None:
    context = make_context("IMM-1-25..IMM-99999-25")
    assert next(RECIPE.plan(context, 99_998)).name == "IMM-99999-25"


def collected(hits: set[int]) -> list[str]:
    """Every number that is asked, each by a program that knows nothing but the rows: as if killed after each."""
    rows = {item.name: item for item in RECIPE.plan(make_context("IMM-*-25"))}
    waiting, asked = dict(rows), []
    while waiting:
        found = waiting.pop(min(waiting, key=lambda name: rows[name].rank))
        asked.append(found.name)
        status = 200 if int(found.name.split("-")[1]) in hits else 404
        outcome = outcome_of(status, name=found.name, params=found.params, ranges="IMM-*-25")
        assert isinstance(outcome, Done)
        for item in outcome.found:
            if item.name not in rows:
                rows[item.name] = waiting[item.name] = item
    return asked


def test_the_search_for_the_end_goes_on_from_its_rows_after_a_kill_behind_any_number() -> None:
    """Worlds 2, line 16: the bound found so far is in the rows; a gap longer than safe_stop does not end it."""
    hits = {*range(1, 60), *range(130, 230)}
    asked = collected(hits)
    assert len(asked) == len(set(asked)) < 300
    assert {f"IMM-{number}-25" for number in range(1, 280)} <= set(asked)


def test_an_answer_is_a_record_with_its_body() -> None:
    """CAS-10."""
    outcome = outcome_of(200)
    assert isinstance(outcome, Done)
    assert outcome.disposition == "record"
    assert outcome.body is not None
    [record] = outcome.records
    said = json.loads(record.doc)
    assert list(said) == ["case", "url", "status_code", "sha256"]
    assert (said["case"], said["url"], said["status_code"]) == ("IMM-7-25", "https://court.test/IMM/7?year=25", 200)


@pytest.mark.parametrize("status", [404, 410])
def test_no_such_page_proves_that_there_is_no_record(status: int) -> None:
    """CAS-03, CAS-10: succeeded, disposition `no_record`."""
    outcome = outcome_of(status)
    assert isinstance(outcome, Done)
    assert (outcome.disposition, outcome.records, outcome.status_code) == ("no_record", (), status)


@pytest.mark.parametrize(
    ("status", "code"), [(403, "http_403"), (429, "http_429"), (500, "http_5xx"), (206, "bad_response")]
)
def test_any_other_answer_proves_nothing(status: int, code: str) -> None:
    with pytest.raises(FetchError) as failed:
        outcome_of(status)
    assert failed.value.code == code


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "needs the URL"),
        ("https://court.test/{nummer}", "no placeholder {nummer}"),
        ("https://court.test/{prefix}", r"needs \{number\}"),
        ("ftp://court.test/{number}", "no http"),
        ("ontario", "neither a configured source"),
    ],
)
def test_a_template_that_cannot_work_is_refused(url: str, said: str) -> None:
    with pytest.raises(BadParams, match=said):
        RECIPE.check({"ranges": ["IMM-1-25"], "url": url})
