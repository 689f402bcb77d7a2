"""What is believed of a court's answers: details, proofs of absence, statistics, and where the numbers end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.demo.court.files import exists, file_of, gaps, last_number
from holdfast.demo.court.oracle import record_of as oracle_record
from holdfast.demo.court.pages import block_page, modal_of
from holdfast.errors import Corrupt
from holdfast.recipes.cases import report
from holdfast.recipes.cases.completeness import Observation, is_complete, judge_search, what_is_missing
from holdfast.recipes.cases.detail import CaseDetail, read_detail, record_of
from holdfast.recipes.cases.ids import Range, read_range
from holdfast.recipes.cases.probing import Next, expired, first_numbers, long_gaps, next_numbers
from holdfast.recipes.cases.statistics import statistics_of

URL = "https://court.test/search"


# --- details


@pytest.mark.parametrize("number", [1, 23, 231, 402, 2_480])
def test_a_modal_is_read_into_exactly_the_record_of_the_oracle(number: int) -> None:
    """CAS-06: the record follows from the kept page alone, so that a better parser needs no request."""
    file = file_of(7, number)
    detail = read_detail(modal_of(file).decode())
    record = record_of(detail, style_of_cause=file.style, court="Federal Court", url=URL, scraped_at="2049-06-17")
    assert record.pop("scraped_at") == "2049-06-17"
    assert record == oracle_record(file, URL)
    assert is_complete(file.case_id, detail)


def test_blocks_without_white_space_between_them_are_read_as_a_browser_shows_them() -> None:
    """CAS-06: many sites send their HTML in one line."""
    file = file_of(7, 23)
    modal = modal_of(file).decode()
    in_one_line = re.sub(r">\s+<", "><", modal)
    assert ">\n<" not in in_one_line
    in_one_paragraph = in_one_line.replace("</p><p>", "<br>")
    assert in_one_paragraph.count("<p>") == 1
    assert read_detail(in_one_line) == read_detail(in_one_paragraph) == read_detail(modal)
    assert is_complete(file.case_id, read_detail(in_one_line))


def test_a_bold_value_belongs_to_its_label_and_the_next_label_does_not() -> None:
    """CAS-06."""
    detail = read_detail(
        "<p><strong>Type :</strong> <strong>Federal Court</strong> <strong>Office :</strong> Toronto</p>"
        "<p><strong>Nature of Proceeding :</strong> S. 18.1 <strong>Application</strong> for JR</p>"
    )
    assert (detail.case_type, detail.office) == ("Federal Court", "Toronto")
    assert detail.nature_of_proceeding == "S. 18.1 Application for JR"


def test_the_detail_that_the_documentation_shows_is_a_record() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cases.md").read_text()
    shown = page.partition("```html\n")[2].partition("```")[0]
    assert what_is_missing("IMM-38-25", read_detail(shown)) == ()
    for needed in ("Recorded Entry Information", "Office :", "Filing Date :", "Date Filed", "Recorded Entry Summary"):
        assert what_is_missing("IMM-38-25", read_detail(shown.replace(needed, ""))), needed


def test_the_table_that_explains_the_columns_is_never_data() -> None:
    detail = read_detail(modal_of(file_of(7, 23), without_entries=True).decode())
    assert (detail.entries, detail.unreadable_rows) == ((), 0)
    alone = modal_of(file_of(7, 23)).decode().partition('<table class="table table-striped">')[0]
    assert read_detail(alone).entries == ()


def test_docket_ids_are_those_of_the_id_column_newest_first() -> None:
    ids = [entry.doc_id for entry in read_detail(modal_of(file_of(7, 23)).decode()).entries]
    assert ids == [entry.number for entry in file_of(7, 23).entries]
    assert ids == sorted(ids, reverse=True)


@pytest.mark.parametrize(
    ("half", "said"),
    [
        ({"without_header": "Filing Date"}, "no filing date"),
        ({"without_header": "Office"}, "no office"),
        ({"without_entries": True}, "no docket entry"),
    ],
)
def test_half_a_modal_is_no_record(half: dict[str, object], said: str) -> None:
    """CAS-07."""
    detail = read_detail(modal_of(file_of(7, 23), **half).decode())  # type: ignore[arg-type]
    assert what_is_missing("IMM-23-49", detail) == (said,)


def test_the_modal_of_another_case_is_no_record_of_this_one() -> None:
    detail = read_detail(modal_of(file_of(7, 231)).decode())
    assert what_is_missing("IMM-23-49", detail) == ("the detail is of IMM-231-49",)


def test_a_docket_with_a_hole_is_incomplete() -> None:
    modal = modal_of(file_of(7, 23)).decode()
    count = len(file_of(7, 23).entries)
    assert count > 2
    holed = modal.replace(f"<tr><td>{count - 1}</td>", "<tr hidden><td>&hellip;</td>")
    assert what_is_missing("IMM-23-49", read_detail(holed)) == (
        "1 docket rows cannot be read",
        "docket entries are missing or doubled",
    )


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    detail = read_detail(text)
    assert not is_complete("IMM-1-49", detail)
    assert isinstance(detail, CaseDetail)


def test_a_block_page_is_no_detail() -> None:
    assert read_detail(block_page().decode()) == CaseDetail()


# --- proof of absence


def look(rows: tuple[str, ...], at_ms: int, asked: str = "IMM-231-49", *, settled: bool = True) -> Observation:
    return Observation(asked, rows, at_ms, settled)


@pytest.mark.parametrize(
    ("looks", "verdict"),
    [
        ([], "unsettled"),
        ([look((), 0)], "unsettled"),
        ([look((), 0), look((), 100)], "unsettled"),
        ([look((), 0), look((), 2_000)], "no_record"),
        ([look((), 0), look(("IMM-231-49",), 400)], "hit"),
        ([look(("IMM-23-49",), 0), look(("IMM-23-49",), 9_000)], "unsettled"),
        ([look((), 0), look(("IMM-23-49",), 900), look((), 2_500)], "unsettled"),
        ([look((), 0, ""), look((), 5_000, "")], "unsettled"),
        ([look((), 0, settled=False), look((), 5_000, settled=False)], "unsettled"),
        ([look((), 0, "IMM-23-49"), look((), 0), look((), 3_000)], "no_record"),
    ],
)
def test_only_a_repeated_settled_miss_about_this_number_proves_absence(looks: list[Observation], verdict: str) -> None:
    """CAS-07: not an empty input, not the previous row, not a miss that is only passing."""
    assert judge_search("IMM-231-49", looks).verdict == verdict


# --- statistics


def test_counts_sum_to_the_range() -> None:
    """CAS-04: failures and no-records are counted apart, and `no-record` is read (CAS-03)."""
    asked = read_range("IMM-*-49", start=30, count=50)
    found = statistics_of(asked, {"record": 20, "no_record": 6, "no-record": 4, "failed": 5, "skipped": 1})
    assert (found.start_id, found.end_id) == ("IMM-30-49", "IMM-79-49")
    assert (found.success_count, found.no_record_count, found.failed_count) == (20, 10, 5)
    assert (found.skipped_count, found.pending_count, found.total_attempted) == (1, 14, 35)
    document = found.document(run_id="R-1", started_at="a", finished_at="b")
    assert sum(document[f"{name}_count"] for name in ("success", "no_record", "failed", "skipped", "pending")) == 50


@pytest.mark.parametrize("counts", [{"record": 11}, {"record": 6, "failed": 5}, {"record": -1}, {"lost": 1}])
def test_counts_that_cannot_be_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(Corrupt):
        statistics_of(Range("IMM", "49", 1, 10), counts)


# --- the open end


def collect(hits: frozenset[int] | set[int], first: int = 1, *, safe_stop: int = 50, last: int = 99_999) -> list[int]:
    """Every number that is asked, in an order of claiming: leaps first, then by number."""
    known = {item.number: item for item in first_numbers(Range("IMM", "49", first, last, is_open=True), safe_stop)}
    waiting, asked = dict(known), []
    while waiting:
        item: Next = min(waiting.values(), key=lambda each: (each.leap is None, each.number))
        del waiting[item.number]
        asked.append(item.number)
        is_hit = item.number in hits
        for found in next_numbers(item.number, is_hit=is_hit, last=last, leap=item.leap, safe_stop=safe_stop):
            if found.number not in known:
                known[found.number] = waiting[found.number] = found
    return asked


def court_hits(day: int = 0) -> frozenset[int]:
    return frozenset(number for number in range(1, last_number(7, day) + 1) if exists(7, number, day))


def test_every_number_up_to_the_end_is_asked_once_and_few_beyond_it() -> None:
    """CAS-08; worlds 2, line 11: probing and collecting count each number once."""
    asked = collect(court_hits())
    assert len(asked) == len(set(asked))
    assert set(range(1, 2_531)) <= set(asked)
    assert len([number for number in asked if number > 2_530]) < 30


def test_leaps_say_early_how_far_the_numbers_go() -> None:
    asked = collect(court_hits())
    early = asked[:30]
    assert max(number for number in early if number in court_hits()) > 2_300


def test_misses_beyond_the_end_expire_and_gaps_do_not() -> None:
    """CAS-08; worlds 2, line 13."""
    misses = [number for number in collect(court_hits()) if number not in court_hits()]
    missed = [(number, 0) for number in misses]
    assert expired(missed, 2_480, 3_600_000) == []
    old = expired(missed, 2_480, 24 * 3_600_000)
    assert old == sorted(number for number in misses if number > 2_480)
    assert not gaps(7) & set(old)


def test_a_stretch_of_35_gaps_ends_no_run_whose_safe_stop_is_larger_and_is_reported_else() -> None:
    """Worlds 2, line 18. A leap gets over it also where safe_stop is smaller, and then it is reported."""
    hits = sorted(court_hits())
    assert long_gaps(hits, 50) == []
    (found,) = long_gaps(hits, 35)
    assert found.last - found.first + 1 == 35
    for safe_stop in (50, 20):
        assert set(hits) <= set(collect(set(hits), safe_stop=safe_stop))


@given(st.sets(st.integers(1, 400), max_size=120), st.integers(1, 30))
def test_an_end_is_never_said_before_safe_stop_misses_in_a_row(hits: set[int], safe_stop: int) -> None:
    asked = collect(hits, safe_stop=safe_stop)
    assert len(asked) == len(set(asked))
    highest = max(hits & set(asked), default=0)
    assert set(range(1, highest + safe_stop + 1)) <= set(asked)


def test_a_range_with_an_end_is_not_left() -> None:
    assert sorted(collect(set(range(1, 100)), last=60)) == list(range(1, 61))


def test_a_range_names_what_failed_and_says_what_a_cell_of_its_strip_is() -> None:
    outcomes = bytearray([report.HIT] * 80)
    outcomes[4] = report.FAILED
    seen = report.RangeNumbers(read_range("IMM-1-25..IMM-80-25"), 50, outcomes)
    document = report._document(seen, {"run_id": "R-1", "started_at": "", "finished_at": ""})
    assert (document["failed"], document["numbers_per_cell"], len(document["strip"])) == (["IMM-5-25"], 2, 40)
    lines = report.told(document)
    assert "failed: IMM-5-25" in lines
    assert any("(each: 2 numbers)" in line for line in lines)
