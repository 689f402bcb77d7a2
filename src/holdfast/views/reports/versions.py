"""Which report is meant: a numbered version that the job made, or one built now from what is stored so far.

Versions are counted in the order in which runs made them, and none is ever overwritten: a rescan makes the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from holdfast.clock import iso
from holdfast.errors import BadParams, Corrupt, NotFound, Refused
from holdfast.model.job import Counts, Job
from holdfast.model.look import Generation
from holdfast.model.outcome import body_of
from holdfast.model.target import PageRow
from holdfast.ports import Blobs, Ledger, Storage
from holdfast.recipes import catalogue
from holdfast.recipes.site.analysis.sections import SECTIONS
from holdfast.recipes.site.made import INSTALL, Extractor, is_readable, missing_packages
from holdfast.recipes.site.made_types import PAGE, REPORT, SECTION
from holdfast.recipes.site.report.document import report_document
from holdfast.recipes.site.report.rows import ReportRows

ROWS_AT_ONCE = 500
BUILT_PAGES_MAX = 1_000  # pages that a report built now extracts by itself; more are listed, and said to be left
FORMS = ("md", "json", "html")
_VERSION = re.compile(r"(R-)?([0-9]{1,9})")


class ReportVersion(msgspec.Struct, frozen=True):
    """A report that a run of the job made; `number` counts from 1."""

    number: int
    run: int
    document: dict[str, Any]


class ReportRequest(msgspec.Struct, frozen=True):
    """What to look at; `extractor` works pages that the job has not extracted."""

    ledger: Ledger
    blobs: Blobs
    job: Job
    counts: Counts
    extractor: Extractor


def versions_of(ledger: Ledger, job: Job) -> list[ReportVersion]:
    """Every report that was made, oldest first."""
    rows: list[Generation] = []
    after: tuple[int, int, int] = (0, 0, -1)
    while found := ledger.generations(job.id, REPORT, after=after, limit=ROWS_AT_ONCE):
        rows += found
        after = (found[-1].target, found[-1].generation, found[-1].n)
    rows.sort(key=lambda row: (row.run, row.generation, row.target))
    return [ReportVersion(number, row.run, _decoded(row.doc)) for number, row in enumerate(rows, 1)]


def newest_report(ledger: Ledger, job: Job) -> dict[str, Any] | None:
    """The newest report that the job made; None where it made none."""
    versions = versions_of(ledger, job)
    return _headed(job, versions[-1]) if versions else None


def dated_report(report: dict[str, Any], dated_ms: int) -> dict[str, Any]:
    """The report as of one date, without id and run of its job: equal answers give equal reports."""
    when = iso(dated_ms)
    about = {**report["metadata"], "as_of": when, "job": report["metadata"]["name"], "run": None}
    return {**report, "pages": [{**page, "crawled_at": when} for page in report["pages"]], "metadata": about}


def report_of(request: ReportRequest, which: str | None = None) -> dict[str, Any]:
    """The version that is named (`2`, `R-3`); else the newest of a complete job, else one built of what there is."""
    job = request.job
    if not catalogue.kind_of(job).has_reports:
        kinds = [each for each in map(catalogue.kind, catalogue.NAMES) if each.has_reports or each.report is not None]
        named = ", ".join(f"`holdfast {each.command}`" for each in kinds)
        raise BadParams(f"{job.name} is a job of the kind {job.recipe}: reports are made of jobs of {named}")
    versions = versions_of(request.ledger, job)
    if which is not None:
        return _headed(job, _chosen(job, versions, which))
    if versions and job.status == "completed":
        return _headed(job, versions[-1])
    return _built(request, len(versions))


@contextmanager
def report_reader(
    storage: Storage, ledger: Ledger, job: Job, counts: Counts
) -> Iterator[Callable[[str | None], dict[str, Any]]]:
    """Reads the report of a job, by its version; pages that the job has not extracted are worked meanwhile."""
    from holdfast.recipes.site.extract_process import ExtractProcess

    if missing := missing_packages():
        packages = ", ".join(missing)
        raise BadParams(f"a report needs packages that are not installed: {packages}", hint=INSTALL)
    blobs, extractor = storage.bodies(job.uid), ExtractProcess()
    try:
        yield lambda which: report_of(ReportRequest(ledger, blobs, job, counts, extractor), which)
    finally:
        extractor.close()
        blobs.close()


def can_be_built(ledger: Ledger, job: Job) -> bool:
    """Whether a report can be had of what the job has stored, though it made none."""
    if not catalogue.kind_of(job).has_reports or missing_packages():
        return False
    return any(row.kind == PAGE for row in _rows(ledger, job))


def written(report: dict[str, Any], form: str) -> bytes:
    from holdfast.views.reports.html import as_html
    from holdfast.views.reports.markdown import as_markdown

    if form == "json":
        return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    return (as_html(report) if form == "html" else as_markdown(report)).encode()


def _chosen(job: Job, versions: list[ReportVersion], which: str) -> ReportVersion:
    """`2` is the second report, `R-5` the newest that the run R-5 made."""
    named = _VERSION.fullmatch(which)
    if named is None:
        raise BadParams(f"{which!r} names no version; they are called 1, 2 and so on, or by their run: R-3")
    number = int(named[2])
    found = [each for each in versions if number == (each.run if named[1] else each.number)]
    if not found:
        there = ", ".join(f"{each.number} (R-{each.run})" for each in versions) or "none yet"
        raise NotFound(f"{job.name} has no report {which}; it has: {there}")
    return found[-1]


def _headed(job: Job, version: ReportVersion) -> dict[str, Any]:
    """A kept report with its number and run; the rest is as it was made."""
    report = version.document
    missing = report["analysis"]["missing"]
    because = f"{len(missing)} sections could not be made" if missing else ""
    return _with(report, job, version=version.number, run=f"R-{version.run}", because=because)


def _built(request: ReportRequest, kept: int) -> dict[str, Any]:
    """A report of the last commit. What the job has extracted is used; other pages are worked here, up to a number."""
    job, gathered, unread = request.job, ReportRows(), []
    for row in _rows(request.ledger, job):
        gathered.add(row)
        if row.kind == PAGE and is_readable(row):
            unread.append(row)
    if not gathered.pages:
        raise Refused(f"{job.name} has no stored page yet: nothing to report")
    missing = set(gathered.urls_without_facts())
    todo = [row for row in unread if row.url in missing]
    for row in todo[:BUILT_PAGES_MAX]:
        _extract(request, row, gathered)
    corpus = gathered.corpus()
    report = report_document(corpus, [make(corpus) for make in SECTIONS.values()])
    because = _because(request, left=max(0, len(todo) - BUILT_PAGES_MAX))
    return _with(report, job, version=None, run=f"R-{job.run}" if job.run else None, because=because)


def _rows(ledger: Ledger, job: Job) -> Iterator[PageRow]:
    after = (0, -1)
    where = (("type", False, (SECTION, REPORT)),)
    while rows := ledger.results(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = (rows[-1].target, rows[-1].n)


def _extract(request: ReportRequest, row: PageRow, gathered: ReportRows) -> None:
    """A page whose bytes are lost, or that no rule can read, is listed without entities."""
    from holdfast.recipes.site.extract_process import ExtractFailed

    body = body_of(row)
    assert body is not None
    content_type = msgspec.json.decode(row.record).get("content_type") or row.media
    try:
        record = request.extractor(row.url, request.blobs.read(body), content_type)
    except (NotFound, Corrupt, ExtractFailed):
        return
    gathered.add_record(record)


def _because(request: ReportRequest, left: int) -> str:
    """Why this report is not the whole one; empty where nothing is missing."""
    job, pending = request.job, request.counts.left
    parts = []
    if job.status != "completed":
        parts.append(f"the job is {job.status} in its phase {job.phase}, {pending} targets pending")
    if left:
        parts.append(f"{left} pages were not extracted")
    return "; ".join(parts)


def _with(report: dict[str, Any], job: Job, *, version: int | None, run: str | None, because: str) -> dict[str, Any]:
    analysis = {"version": version, **report["analysis"]}
    about = {"job": job.uid, "name": job.name, "run": run, "partial": bool(because), "because": because or None}
    return {**report, "analysis": analysis, "metadata": {**report["metadata"], **about}}


def _decoded(doc: bytes) -> dict[str, Any]:
    try:
        return dict(msgspec.json.decode(doc))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"a stored report cannot be read: {error}") from error
