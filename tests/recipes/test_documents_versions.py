"""Versions of a list over the judgments world's own five, worklists, and what a run of them came to."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec.structs import asdict

from holdfast.demo.judgments.docket import STAGES, csv_of
from holdfast.demo.judgments.oracle import oracle_of
from holdfast.errors import Corrupt, NotFound
from holdfast.recipes.documents import worklists
from holdfast.recipes.documents.coverage import RunCounts, corpus_ratio, coverage, coverage_ratio, run_health, summary
from holdfast.recipes.documents.lists import read_list
from holdfast.recipes.documents.report import as_markdown
from holdfast.recipes.documents.reports import bytes_still_needed, report_row
from holdfast.recipes.documents.versions import Case, Checked, Version, check_version, diff, last_good, synced

SOURCE = "unreported_judgments"


def fetched(body: bytes | None, versions: list[Version], **given: Any) -> Checked:
    asked = Version(0, SOURCE, "", 0, valid=False, source_url="https://reef.test/judgments.csv", **given)
    return check_version(asked, body, versions, read_list)


def after(stage: str, seed: int = 7) -> tuple[dict[str, Case], list[Version]]:
    """The cases and versions when every stage up to this one was synced."""
    cases: dict[str, Case] = {}
    versions: list[Version] = []
    for each in STAGES[: STAGES.index(stage) + 1]:
        checked = fetched(None if each == "v4" else csv_of(seed, each), versions)
        if checked.is_new_version or not checked.version.valid:
            versions.append(checked.version)
        if checked.listed:
            cases = synced(cases, checked.listed.entries, checked.version.number)
    return cases, versions


@pytest.mark.parametrize("seed", [7, 3])
@pytest.mark.parametrize("stage", STAGES)
def test_the_cases_after_each_version_are_those_of_the_oracle(stage: str, seed: int) -> None:
    """DOC-05, DOC-06, DOC-35: row by row."""
    cases, versions = after(stage, seed)
    numbers = {"v1": 1, "v2": 2, "v5": versions[-1].number}
    for expected in oracle_of(seed, stage, "")["cases"]:
        case = cases[expected["token"]]
        seen = (case.first_seen, case.last_seen, case.is_active)
        assert seen == (numbers[expected["first_seen"]], numbers[expected["last_seen"]], expected["is_active"])
        said = {name: getattr(case.entry, name) for name in ("title", "cause_number", "court", "category", "subject")}
        assert said == {name: expected[name] for name in said}
        assert case.entry.judgment_date == expected["judgment_date"]
        assert case.entry.is_criminal == expected["is_criminal"]
    assert len(cases) == len(oracle_of(seed, stage, "")["cases"])


def test_each_version_changes_what_the_table_says() -> None:
    cases, _ = after("v1")
    second = diff(cases, read_list(csv_of(7, "v2")).entries)
    assert [len(part) for part in (second.new, second.changed, second.removed, second.returned)] == [7, 4, 2, 0]
    assert sorted(change.field for change in second.changes) == ["court", "title", "title", "title"]
    cases, _ = after("v4")
    fifth = diff(cases, read_list(csv_of(7, "v5")).entries)
    assert [len(part) for part in (fifth.new, fifth.changed, fifth.removed, fifth.returned)] == [1, 0, 0, 1]


def test_unchanged_bytes_make_no_new_version() -> None:
    """DOC-03: a new number for the same list is what loses unfinished cases."""
    _, versions = after("v1")
    again = fetched(csv_of(7, "v1 again"), versions)
    assert (again.is_new_version, again.version, again.current) == (False, versions[0], versions[0])


def test_the_order_of_rows_changes_nothing() -> None:
    cases, _ = after("v1")
    entries = read_list(csv_of(7, "v1")).entries
    turned = diff(cases, entries[::-1])
    assert (turned.new, turned.changed, turned.removed, turned.returned) == ((), (), (), ())


def doubled(body: bytes) -> bytes:
    return body + body.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (csv_of(7, "v3"), "no column of the list has addresses"),
        (b"<html><body>Service unavailable</body></html>", "HTML"),
        (b"", "empty"),
        (b"Title,Actions\r\n", "no rows"),
        (b"Title,Actions\r\nA,-\r\n", "no row of the list names"),
        (doubled(csv_of(7, "v2")), "header stands in the list twice"),
        (csv_of(7, "v2") + csv_of(7, "v2").partition(b"\r\n")[2], "every row stands in the list twice"),
        (b"\r\n".join(csv_of(7, "v2").split(b"\r\n")[:40]), "rows to 39 at once"),
        (None, "could not be fetched"),
    ],
)
def test_a_bad_list_is_recorded_and_the_last_good_one_stays(body: bytes | None, said: str) -> None:
    """DOC-04."""
    cases, versions = after("v2")
    checked = fetched(body, versions)
    assert not checked.version.valid
    assert said in checked.version.error_message
    assert checked.current == versions[-1] == last_good([*versions, checked.version], SOURCE)
    assert checked.listed is None
    assert len(cases) == 123


def test_a_list_that_really_grew_is_taken_when_told_so() -> None:
    _, versions = after("v2")
    small = b"\r\n".join(csv_of(7, "v2").split(b"\r\n")[:40])
    asked = Version(0, SOURCE, "", 0, valid=False)
    assert check_version(asked, small, versions, read_list, accept_jump=True).version.valid


def test_the_last_good_version_is_looked_up_per_source() -> None:
    """Defect 9: alternating two sources makes no version look new."""
    ours = Version(1, SOURCE, "a", 9, valid=True)
    theirs = Version(2, "public_registers", "b", 9, valid=True)
    assert last_good([ours, theirs], SOURCE) == ours
    assert last_good([theirs], SOURCE) is None


# --- worklists


def test_a_full_worklist_has_every_civil_case_that_is_not_held() -> None:
    """DOC-12, DOC-15: 108 planned, none of them criminal; a second run plans nothing."""
    cases, _ = after("v1")
    work = worklists.full(cases, held=())
    assert (work.planned, len(work.criminal)) == (108, 8)
    assert not any(cases[key].entry.is_criminal for key in work.taken)
    again = worklists.full(cases, held=set(work.taken))
    assert (again.planned, len(again.held)) == (0, 108)
    assert worklists.full(cases, held=set(work.taken), refetch=True).planned == 108


def test_new_cases_survive_a_crash_and_a_version_in_between() -> None:
    """DOC-13, defect 2."""
    held = set(worklists.full(after("v1")[0], held=()).taken)
    cases, versions = after("v2")
    first = worklists.new(cases, held, versions[-1].number, owed=())
    assert first.planned == 7
    cases, versions = after("v5")
    assert worklists.new(cases, held, versions[-1].number, owed=()).planned == 1
    later = worklists.new(cases, held, versions[-1].number, owed=set(first.taken))
    assert later.planned == 8


def test_a_limit_leaves_the_rest_waiting() -> None:
    """Defect 8."""
    cases, _ = after("v1")
    work = worklists.full(cases, held=(), limit=10)
    assert (len(work.taken), len(work.left)) == (10, 98)


# --- coverage


def counts(**given: int) -> RunCounts:
    everything = {"cases_total": 116, "cases_planned": 108, "cases_attempted": 108, "cases_downloaded": 108}
    return RunCounts(**{**everything, "cases_failed": 0, "cases_held": 108, "collectable": 108, **given})


@pytest.mark.parametrize(
    ("given", "health"),
    [
        ({}, "ok"),
        ({"cases_planned": 0, "cases_attempted": 0, "cases_downloaded": 0}, "ok"),  # everything already held
        ({"cases_planned": 0, "cases_attempted": 0, "cases_downloaded": 0, "cases_held": 107}, "suspicious"),
        ({"cases_planned": 0, "cases_attempted": 0, "cases_downloaded": 0, "cases_held": 0}, "suspicious"),
        ({"cases_total": 8, "cases_planned": 0, "cases_attempted": 0, "cases_downloaded": 0, "cases_held": 0,
          "collectable": 0}, "suspicious"),
        ({"cases_total": 0, "cases_planned": 0, "cases_attempted": 0, "cases_downloaded": 0, "cases_held": 0,
          "collectable": 0}, "ok"),
        ({"cases_attempted": 0, "cases_downloaded": 0}, "suspicious"),
        ({"cases_planned": 100, "cases_attempted": 95, "cases_downloaded": 95}, "ok"),
        ({"cases_planned": 100, "cases_attempted": 95, "cases_downloaded": 94}, "partial"),
        ({"cases_planned": 100, "cases_attempted": 100, "cases_downloaded": 99, "cases_failed": 1}, "partial"),
        ({"cases_planned": 100, "cases_attempted": 100, "cases_downloaded": 60, "cases_failed": 40}, "partial"),
        ({"cases_planned": 100, "cases_attempted": 100, "cases_downloaded": 10, "cases_failed": 90}, "partial"),
        ({"cases_planned": 100, "cases_attempted": 100, "cases_downloaded": 9, "cases_failed": 91}, "failed"),
        ({"cases_planned": 100, "cases_attempted": 9, "cases_downloaded": 9}, "partial"),
        ({"cases_planned": 100, "cases_attempted": 100, "cases_downloaded": 0, "cases_failed": 100}, "failed"),
    ],
)  # fmt: skip
def test_the_health_of_each_class_of_run(given: dict[str, int], health: str) -> None:
    """DOC-38 with its ruling: nothing to do because everything is held is ok."""
    assert run_health(counts(**given)) == health


def test_health_is_one_of_four_over_all_small_runs() -> None:
    sizes = range(4)
    seen = set()
    for total, planned, attempted, done, failed, held in product(sizes, repeat=6):
        try:
            each = RunCounts(total, planned, attempted, done, failed, cases_held=held, collectable=3)
        except Corrupt:
            assert done + failed > attempted or attempted > planned
            continue
        health = run_health(each)
        seen.add(health)
        if failed:
            assert health != "ok"
        if done == planned > 0:
            assert health == "ok"
        assert 0 <= coverage_ratio(each) <= 1
        assert 0 <= corpus_ratio(each) <= 1
    assert seen == {"ok", "partial", "failed", "suspicious"}


def test_coverage_has_the_fields_of_a_run_and_an_unknown_run_is_not_found() -> None:
    """DOC-36, DOC-37, DOC-39."""
    document = coverage(counts(cases_held=54), "R-3")
    assert document.keys() - asdict(counts()).keys() == {
        "run_id",
        "coverage_ratio",
        "corpus_ratio",
        "run_health",
        "health",
    }
    assert (document["coverage_ratio"], document["corpus_ratio"], document["health"]) == (1.0, 0.5, "ok")
    with pytest.raises(NotFound, match="no run R-99"):
        coverage(None, "R-99")


def test_a_run_ends_with_a_summary() -> None:
    """JOB-06."""
    found = summary(counts(), "R-1", {"http_429": 2, "http_5xx": 0}, started_at="a", ended_at="b")
    assert (found["cases_targeted"], found["downloads_completed"]) == (108, 108)
    assert found["error_counts"] == {"http_429": 2}


@pytest.mark.parametrize(
    "given", [{"cases_downloaded": 109}, {"cases_attempted": 109}, {"cases_failed": -1}, {"cases_held": 109}]
)
def test_counts_that_cannot_be_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(Corrupt):
        counts(**given)


# --- reports


def test_a_report_row_shows_an_unreadable_date_as_it_was_and_sorts_it_first() -> None:
    """DOC-31."""
    cases, _ = after("v1")
    rows = [
        report_row(case.entry, downloaded_at="2025-06-02", saved_path=f"pdfs/s/{key}.pdf", size_bytes=2_560)
        for key, case in cases.items()
    ]
    first = sorted(rows, key=lambda row: str(row["sort_judgment_date"]))[:2]
    assert {row["judgment_date"] for row in first} == {"14th Marsh 2025", "undated"}
    assert first[0]["filename"] == f"{first[0]['actions_token']}.pdf"
    assert first[0]["size_kb"] == 2.5


def test_words_of_a_list_are_no_markup_of_the_report() -> None:
    whole = dict.fromkeys(("listed", "collectable", "held", "missing", "criminal", "withdrawn", "bytes"), 0)
    odd = "A|1\n[x](javascript:y) <b>"
    report = {
        "name": "list", "list": "list.csv", "collection": {**whole, "corpus_ratio": 1.0}, "runs": [],
        "versions": [{"version": 1, "error": odd}],
        "failed": [{"key": odd, "code": "http_404", "because": odd}],
        "missing": [{"key": odd, "title": odd}],
    }  # fmt: skip
    assert "criminal" not in as_markdown(report)
    told = as_markdown({**report, "collection": {**whole, "criminal": 2, "bytes": 84_321, "corpus_ratio": 0.8333},
                        "runs": [{"run_id": "R-1", "coverage_ratio": 0.8}]})  # fmt: skip
    assert "(83.3 %, 84.3 kB)" in told
    assert "| criminal, left out |" in told
    assert "| R-1 |  |  |  |  |  | 80.0 % |  |" in told
    assert told.count(r"A\|1 \[x\](javascript:y) \<b\>") == 5
    assert odd not in told


def test_the_room_still_needed_follows_from_what_is_held() -> None:
    """DOC-22."""
    assert bytes_still_needed(10, held=4, held_bytes=800) == 2_000
    assert bytes_still_needed(10, held=0, held_bytes=0) > 1_000_000
