"""Reports are made by page and by section: killed anywhere, nothing is lost or made twice (SIT-01, PAU-10)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import msgspec
import pytest

from crash.report_job import NAME, extractor, worked
from crash.texts_kind import open_ledger
from engine.test_time_limit import HOUR_MS, SetClock
from holdfast.audit.verify import verify
from holdfast.blobs.segments import Segments
from holdfast.control.reopen import rescan, retry
from holdfast.control.stopping import pause
from holdfast.model.job import Job
from holdfast.policy.limits import extended
from holdfast.ports import Ledger
from holdfast.recipes.site.analysis.sections import SECTIONS
from holdfast.views.history import checkpoint_head, every_checkpoint
from holdfast.views.reports import ReportRequest, report_of, versions_of
from waiting import wait_until

PAGES = 8


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    return "sqlite" if request.param == "sqlite" else str(request.getfixturevalue("pg_schema_url"))


def lines(folder: Path, kind: str = "") -> list[str]:
    log = folder / "log"
    return [line for line in log.read_text().splitlines() if line.startswith(kind)] if log.exists() else []


def killed(folder: Path, database: str, kind: str, count: int, settled: int = 0, **environ: str) -> int:
    """The process that works the job, killed when so many lines of that kind are in the log, and so many sections are
    settled."""
    command = [sys.executable, "-m", "crash.report_job", str(folder), database]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environ}
    with subprocess.Popen(command, env=environment) as process:
        wait_until(lambda: process.poll() is not None or len(lines(folder, kind)) >= count, seconds=60)
        wait_until(
            lambda: process.poll() is not None or not settled or sections(folder, database) >= settled, seconds=30
        )
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    return process.returncode


def sections(folder: Path, database: str) -> int:
    with opened(folder, database) as (ledger, job):
        return ledger.books(job.id)[1].by_type.get("section", {}).get("succeeded", 0)


@contextmanager
def opened(folder: Path, database: str) -> Iterator[tuple[Ledger, Job]]:
    with closing(open_ledger(folder, database)) as ledger:
        yield ledger, ledger.books(ledger.job(NAME).id)[0]


def newest_report(folder: Path, database: str, which: str | None = None) -> dict[str, object]:
    with opened(folder, database) as (ledger, job):
        blobs = Segments(folder / "segments", job.uid, "reader")
        counts = ledger.books(job.id)[1]
        return report_of(ReportRequest(ledger, blobs, job, counts, extractor), which)


def without_times(report: dict[str, object]) -> bytes:
    """The report but for when its pages were fetched, and in which run and how deep it was made."""
    import re

    text = msgspec.json.encode({**report, "metadata": None})
    return re.sub(rb'"crawled_at":"[^"]*"', b'"crawled_at":""', text)


def without_version(report: dict[str, object]) -> dict[str, object]:
    return {**report, "metadata": None, "analysis": {**report["analysis"], "version": None}}  # type: ignore[dict-item]


def test_after_a_kill_behind_section_5_three_sections_are_made(tmp_path: Path, database: str) -> None:
    assert killed(tmp_path, database, "section/", 6, settled=5, REPORT_HOLD="6") == -signal.SIGKILL
    before = lines(tmp_path, "section/")
    with opened(tmp_path, database) as (ledger, job):
        assert (job.status, job.phase) == ("in_progress", "analyzing")
        settled = [
            row.name
            for row in ledger.targets(job.id, where=[("type", True, ("section",))])
            if row.status == "succeeded"
        ]
        assert len(settled) == 5
    assert worked(tmp_path, database).how == "completed"
    made = lines(tmp_path, "section/")[len(before) :]
    assert len(made) == 3
    assert not set(made) & {str(name) for name in settled}
    assert (len(lines(tmp_path, "entities/")), len(lines(tmp_path, "report/"))) == (PAGES, 1)
    with opened(tmp_path, database) as (ledger, job):
        assert list(verify(ledger.query, job.id)) == []


def test_checkpoints_say_how_many_entities_and_which_sections(tmp_path: Path, database: str) -> None:
    """CHK-03: as of each checkpoint, from the rows; the last one before a phase has all of it."""
    assert worked(tmp_path, database).how == "completed"
    with opened(tmp_path, database) as (ledger, job):
        heads = [checkpoint_head(ledger, job, row, row.point) for row in every_checkpoint(ledger, job.id) if row.point]
        entities = sum(
            msgspec.json.decode(row.record)["count"]
            for row in ledger.results(job.id, where=[("type", True, ("entities",))])
        )
    heads.reverse()
    numbers = [
        (head["phase"], head["entities_extracted_count"], len(head["analysis_sections_completed"])) for head in heads
    ]
    assert numbers[-1] == ("generating", entities, 8)
    assert ("analyzing", entities, 0) in numbers
    assert ("extracting", 0, 0) in numbers
    assert sorted(numbers, key=lambda row: row[1:]) == numbers
    assert set(heads[-1]["analysis_sections_completed"]) == set(SECTIONS)


def test_kills_at_random_in_every_phase_end_in_the_same_report(tmp_path: Path, database: str) -> None:
    calm, stormy = tmp_path / "calm", tmp_path / "stormy"
    calm.mkdir(), stormy.mkdir()
    assert worked(calm, "sqlite").how == "completed"
    random = Random(5)
    for _ in range(6):
        killed(stormy, database, "", len(lines(stormy)) + random.randint(2, 9))
    worked(stormy, database)
    assert without_times(newest_report(stormy, database)) == without_times(newest_report(calm, "sqlite"))


def test_a_failing_extractor_shows_as_failed_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crash.report_job.FAILS", "/team")
    assert worked(tmp_path, "sqlite").how == "completed"
    with opened(tmp_path, "sqlite") as (ledger, job):
        [failed] = ledger.targets(job.id, where=[("type", True, ("entities",)), ("status", True, ("failed",))])
        assert (failed.code, "a rule raised" in (failed.because or "")) == ("recipe_error", True)
        assert job.health == "partial"
        first = versions_of(ledger, job)
        assert len(first) == 1
        retry(ledger, job, [("status", True, ("failed",))], actor="user", because="mended")
    monkeypatch.setattr("crash.report_job.FAILS", "")
    assert worked(tmp_path, "sqlite").how == "completed"
    with opened(tmp_path, "sqlite") as (ledger, job):
        second = versions_of(ledger, job)  # what was extracted has changed, so sections and report are made anew
    assert len(second) == 2
    assert len(second[1].document["entities"]) > len(second[0].document["entities"])


def test_every_rescan_makes_the_next_version_and_keeps_the_others(tmp_path: Path, database: str) -> None:
    """SIT-08: versions 1 to 4, all readable, also of a page that changed in between."""
    worked(tmp_path, database)
    for scan in range(3):
        if scan == 1:
            (tmp_path / "edition").write_bytes(b"<p>Nia Mensah, Chief Operating Officer, joined us.</p>")
        with opened(tmp_path, database) as (ledger, job):
            rescan(ledger, job, mode="full", actor="user")
        assert worked(tmp_path, database).how == "completed"
    with opened(tmp_path, database) as (ledger, job):
        versions = versions_of(ledger, job)
        assert list(verify(ledger.query, job.id)) == []
    assert [version.number for version in versions] == [1, 2, 3, 4]
    assert len({version.run for version in versions}) == 4
    named = ["Nia Mensah" in str(version.document["entities"]) for version in versions]
    assert named == [False, False, True, True]
    assert "Nia Mensah" not in str(newest_report(tmp_path, database, "2")["entities"])
    assert newest_report(tmp_path, database, f"R-{versions[2].run}")["analysis"]["version"] == 3  # type: ignore[index]
    assert newest_report(tmp_path, database)["analysis"]["version"] == 4  # type: ignore[index]


def test_a_pause_and_a_time_limit_while_sections_are_written(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PAU-07, PAU-08, PAU-10: two hours of pause use no time; at the limit a report can be read; more time completes
    it, and no section is made twice but the one in hand."""
    calm, folder, clock = tmp_path / "calm", tmp_path / "limited", SetClock()
    calm.mkdir(), folder.mkdir()
    monkeypatch.setattr("crash.report_job.HOLD", 0)
    assert worked(calm, "sqlite").how == "completed"

    async def pauses() -> None:
        with opened(folder, database) as (ledger, job):
            pause(ledger, job, actor="user")

    monkeypatch.setattr("crash.report_job.HOLD", 3)
    with monkeypatch.context() as during:
        during.setattr("crash.report_job.held", pauses)
        paused = worked(folder, database, clock)
    assert (paused.how, paused.job.phase) == ("paused", "analyzing")
    clock.wall_by_ms += 2 * HOUR_MS
    limit_s = paused.job.active_ms / 1000 + 1.0
    with opened(folder, database) as (ledger, job):
        ledger.amend(job, options=msgspec.structs.replace(job.options, time_limit_s=limit_s), actor="user", because="")
    ended = worked(folder, database, clock)  # the third of its sections takes longer than there is time
    assert (ended.how, ended.job.phase, ended.job.stop_reason) == ("timeout", "analyzing", "time_limit")
    assert limit_s * 1000 <= ended.job.active_ms <= limit_s * 1000 + 4_000
    report = newest_report(folder, database)
    assert "timeout in its phase analyzing" in str(report["metadata"]["because"])  # type: ignore[index]
    assert len(report["analysis"]["sections"]) == 8  # type: ignore[index]

    monkeypatch.setattr("crash.report_job.HOLD", 0)
    clock.wall_by_ms += 2 * HOUR_MS
    with opened(folder, database) as (ledger, job):
        more = extended(job, ended.counts, 600.0, None)
        ledger.amend(job, options=more, actor="user", because="more time")
    assert worked(folder, database, clock).how == "completed"
    assert without_times(newest_report(folder, database)) == without_times(newest_report(calm, "sqlite"))
    made = lines(folder, "section/")
    assert (len(set(made)), len(made) <= 9) == (8, True)
    assert len(lines(folder, "extracted")) == PAGES
    with opened(folder, database) as (ledger, job):
        assert list(verify(ledger.query, job.id)) == []


def test_a_scan_for_what_is_new_extracts_only_what_changed(tmp_path: Path, database: str) -> None:
    """An unchanged site: no body is sent and no page is extracted again. Then one page changes, and is the only one."""
    worked(tmp_path, database)
    first = newest_report(tmp_path, database)
    for edition, changed in ((b"", 0), (b"<p>Nia Mensah, Chief Operating Officer, joined us.</p>", 1)):
        if edition:
            (tmp_path / "edition").write_bytes(edition)
        before = len(lines(tmp_path, "sent")), len(lines(tmp_path, "extracted"))
        with opened(tmp_path, database) as (ledger, job):
            rescan(ledger, job, mode="new", actor="user")
        assert worked(tmp_path, database).how == "completed"
        after = len(lines(tmp_path, "sent")), len(lines(tmp_path, "extracted"))
        assert (after[0] - before[0], after[1] - before[1]) == (changed, changed)
        report = newest_report(tmp_path, database)
        assert (without_version(report) == without_version(first)) == (changed == 0)
        with opened(tmp_path, database) as (ledger, job):
            assert list(verify(ledger.query, job.id)) == []
    assert "Nia Mensah" in str(report["entities"])


def test_changed_rules_extract_every_page_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked(tmp_path, "sqlite")
    with opened(tmp_path, "sqlite") as (ledger, job):
        rescan(ledger, job, mode="new", actor="user")
    monkeypatch.setattr("holdfast.recipes.site.entities.extract.RULES", 99)
    assert worked(tmp_path, "sqlite").how == "completed"
    assert (len(lines(tmp_path, "sent")), len(lines(tmp_path, "extracted"))) == (PAGES, 2 * PAGES)


@pytest.mark.parametrize("kind", ["page", "entities/", "section/"])
def test_a_report_of_an_unfinished_job_is_readable_and_says_so(tmp_path: Path, kind: str) -> None:
    killed(tmp_path, "sqlite", kind, 5)
    report = newest_report(tmp_path, "sqlite")
    assert report["metadata"]["partial"] is True  # type: ignore[index]
    assert "in_progress" in str(report["metadata"]["because"])  # type: ignore[index]
    assert len(report["analysis"]["sections"]) == 8  # type: ignore[index]
    assert report["entities"]
