"""Versions of a list over the judgments world's own five, as a sync keeps them, and what a run of them came to."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import asdict

from holdfast.blobs.publish import publish
from holdfast.clock import ManualClock
from holdfast.control.list_look import Got
from holdfast.control.list_store import ListStore
from holdfast.control.list_sync import Synced, sync
from holdfast.demo.judgments.docket import STAGES, csv_of
from holdfast.demo.judgments.oracle import oracle_of
from holdfast.errors import Corrupt, NotFound
from holdfast.recipes.documents.coverage import RunCounts, corpus_ratio, coverage, coverage_ratio, run_health, summary
from holdfast.recipes.documents.list_file import ListFile, ListShape
from holdfast.recipes.documents.lists import Entry
from holdfast.recipes.documents.report import as_markdown
from holdfast.recipes.documents.reports import bytes_still_needed, report_row
from holdfast.recipes.documents.versions import Case, Version, diff, last_good
from holdfast.recipes.documents.versions import synced as cases_after

SOURCE, PLACE = "unreported_judgments", "https://reef.test/judgments.csv"
AWAY = Got(error="the list cannot be fetched: HTTP 503", is_away=True)


class Followed:
    """A list that is looked at again and again, and its cases as they are listed by now."""

    def __init__(self, folder: Path) -> None:
        self.store = ListStore(folder, lambda path, write: publish(path, write, ours=True))
        self._clock = ManualClock()
        self.cases: dict[str, Case] = {}

    def look(self, body: bytes | None, *, accept_jump: bool = False) -> Synced:
        self._clock.advance(60)
        got = AWAY if body is None else Got(body)
        found = sync(self.store, SOURCE, PLACE, ListShape({}), lambda good: got, self._clock, accept_jump=accept_jump)
        if found.is_new_version:
            self.cases = cases_after(self.cases, self.entries(found.version), found.version.number)
        return found

    def upto(self, stage: str, seed: int = 7) -> Followed:
        for each in STAGES[: STAGES.index(stage) + 1]:
            self.look(None if each == "v4" else csv_of(seed, each))
        return self

    def entries(self, version: Version) -> tuple[Entry, ...]:
        """The first row of each case: a repeated one is told and left out (DOC-05)."""
        found: dict[str, Entry] = {}
        for entry in ListFile.open(self.store.path(version), ListShape({})).entries():
            found.setdefault(entry.key, entry)
        return tuple(found.values())

    @property
    def versions(self) -> list[Version]:
        return self.store.versions(SOURCE)


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path)


@pytest.mark.parametrize("seed", [7, 3])
@pytest.mark.parametrize("stage", STAGES)
def test_the_cases_after_each_version_are_those_of_the_oracle(followed: Followed, stage: str, seed: int) -> None:
    """DOC-05, DOC-06, DOC-35: row by row."""
    cases = followed.upto(stage, seed).cases
    numbers = {"v1": 1, "v2": 2, "v5": followed.versions[-1].number}
    for expected in oracle_of(seed, stage, "")["cases"]:
        case = cases[expected["token"]]
        seen = (case.first_seen, case.last_seen, case.is_active)
        assert seen == (numbers[expected["first_seen"]], numbers[expected["last_seen"]], expected["is_active"])
        said = {name: getattr(case.entry, name) for name in ("title", "cause_number", "court", "category", "subject")}
        assert said == {name: expected[name] for name in said}
        assert case.entry.judgment_date == expected["judgment_date"]
        assert case.entry.is_criminal == expected["is_criminal"]
    assert len(cases) == len(oracle_of(seed, stage, "")["cases"])


def test_each_version_changes_what_the_table_says(followed: Followed) -> None:
    cases = followed.upto("v1").cases
    second = diff(cases, followed.entries(followed.look(csv_of(7, "v2")).version))
    assert [len(part) for part in (second.new, second.changed, second.removed, second.returned)] == [7, 4, 2, 0]
    assert sorted(change.field for change in second.changes) == ["court", "title", "title", "title"]
    cases = followed.cases
    fifth = diff(cases, followed.entries(followed.look(csv_of(7, "v5")).version))
    assert [len(part) for part in (fifth.new, fifth.changed, fifth.removed, fifth.returned)] == [1, 0, 0, 1]


def test_unchanged_bytes_make_no_new_version(followed: Followed) -> None:
    """DOC-03: a new number for the same list is what loses unfinished cases."""
    (first,) = followed.upto("v1").versions
    again = followed.look(csv_of(7, "v1 again"))
    assert (again.is_new_version, again.version, followed.versions) == (False, first, [first])


def test_the_order_of_rows_changes_nothing(followed: Followed) -> None:
    entries = followed.entries(followed.look(csv_of(7, "v1")).version)
    turned = diff(followed.cases, entries[::-1])
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
        (None, "cannot be fetched"),
    ],
)
def test_a_bad_list_is_recorded_and_the_last_good_one_stays(followed: Followed, body: bytes | None, said: str) -> None:
    """DOC-04."""
    followed.upto("v2")
    found = followed.look(body)
    assert said in found.told
    *_, good, bad = followed.versions
    assert (found.version, found.is_new_version, good.valid, bad.valid) == (good, False, True, False)
    assert said in bad.error_message
    assert last_good(followed.versions, SOURCE) == good
    assert len(followed.cases) == 123


def test_a_list_that_really_grew_is_taken_when_told_so(followed: Followed) -> None:
    followed.upto("v2")
    small = b"\r\n".join(csv_of(7, "v2").split(b"\r\n")[:40])
    assert followed.look(small, accept_jump=True).version.row_count == 39


def test_the_last_good_version_is_looked_up_per_source() -> None:
    """Defect 9: alternating two sources makes no version look new."""
    ours = Version(1, SOURCE, "a", 9, valid=True)
    theirs = Version(2, "public_registers", "b", 9, valid=True)
    assert last_good([ours, theirs], SOURCE) == ours
    assert last_good([theirs], SOURCE) is None


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


def test_a_report_row_shows_an_unreadable_date_as_it_was_and_sorts_it_first(followed: Followed) -> None:
    """DOC-31."""
    cases = followed.upto("v1").cases
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
        "list_refused": {"at": "2026-01-01", "because": odd}, "versions": [{"version": 1, "error": odd}],
        "failed": [{"key": odd, "code": "http_404", "because": odd}],
        "missing_not_failed": {"count": 3, "documents": [{"key": f"{odd}2", "title": odd}]}, "failed_count": 1,
        "superseded": 0,
        "withdrawn": [{"key": odd, "title": odd}],
    }  # fmt: skip
    assert "criminal" not in as_markdown(report)
    told = as_markdown({**report, "collection": {**whole, "criminal": 2, "bytes": 84_321, "corpus_ratio": 0.8333},
                        "runs": [{"run_id": "R-1", "coverage_ratio": 0.8}]})  # fmt: skip
    assert "(83.3 %, 84.3 kB)" in told
    assert "| criminal, left out |" in told
    assert "| R-1 |  |  |  |  |  | 80.0 % |  |" in told
    assert told.count(r"A\|1 \[x\](javascript:y) \<b\>") == 8
    assert odd not in told
    assert told.count("\nAnd 2 more.\n") == 1


def test_the_room_still_needed_follows_from_what_is_held() -> None:
    """DOC-22."""
    assert bytes_still_needed(10, held=4, held_bytes=800) == 2_000
    assert bytes_still_needed(10, held=0, held_bytes=0) > 1_000_000
