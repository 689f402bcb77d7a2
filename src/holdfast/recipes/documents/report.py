"""The report of a documents job: what its list names, what is held, what is missing and why (DOC-31, DOC-36 to 39).

Everything is read from the ledger's rows and the stored versions of the list; nothing of it is kept anywhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.clock import iso
from holdfast.model.spelling import in_markdown as text
from holdfast.recipes.documents.audit_files import run_of
from holdfast.recipes.documents.coverage import RunCounts, coverage, summary
from holdfast.recipes.documents.coverage import totals as in_four
from holdfast.recipes.documents.history import ListHistory, history_of
from holdfast.recipes.documents.record import DocumentRecord, read_record
from holdfast.recipes.documents.reports import report_row
from holdfast.recipes.documents.superseded import failed_of, names_of, superseded
from holdfast.recipes.documents.versions import Case, Version
from holdfast.recipes.documents.worklists import collectable

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.model.look import RunLook
    from holdfast.model.target import TargetRow
    from holdfast.ports import Ledger

ROWS_AT_ONCE = 500
FAILED_SHOWN = 50
WITHDRAWN_SHOWN = 500
ENDS = ("succeeded", "failed")
RUN_COLUMNS = (
    "run_id", "mode", "trigger", "cases_planned", "cases_downloaded", "cases_failed", "coverage_ratio", "run_health",
)  # fmt: skip
TOTALS = {
    "listed": "listed",
    "to collect": "collectable",
    "held": "held",
    "missing": "missing",
    "criminal, left out": "criminal",
    "withdrawn from the list": "withdrawn",
}


def documents_report(ledger: Ledger, job: Job, artifacts: Path) -> dict[str, Any]:
    """The document that `holdfast report JOB --format json` gives."""
    job, counts, _ = ledger.books(job.id)
    history = history_of(job, artifacts)
    cases = history.cases
    held = {record.key: record for record in _held(ledger, job)}
    wanted = collectable(cases)
    missing = [key for key in wanted if key not in held]
    runs = sorted(ledger.runs(job.id), key=lambda run: run.n)
    ended = _Ended.of(ledger, job, runs)
    held_then = history.held(ended.held_ms, [run.ended_at for run in runs if run.ended_at is not None])
    failed = failed_of(ledger, job)
    gone = superseded(failed, job, artifacts)
    standing = _standing(failed, gone, cases, held.keys(), set(missing))
    known = {name for row in standing for name in names_of(row.name or "")}
    others = [key for key in missing if key not in known]
    rows = [
        report_row(
            cases[key].entry,
            downloaded_at=iso(record.fetched_at) or "",
            saved_path=record.path,
            size_bytes=record.bytes,
        )
        for key, record in held.items()
        if key in cases
    ]
    totals = {
        "listed": sum(case.is_active for case in cases.values()),
        "collectable": len(wanted),
        "held": len(wanted) - len(missing),
        "missing": len(missing),
        "criminal": sum(case.is_active and case.entry.is_criminal for case in cases.values()),
        "withdrawn": sum(not case.is_active for case in cases.values()),
        "bytes": sum(record.bytes for record in held.values()),
    }
    return {
        "schema": "holdfast.documents_report/1",
        "job": job.uid,
        "name": job.name,
        "status": job.status,
        "health": job.health,
        "source": job.params["source"],
        "list": job.params["list"],
        "collection": {**totals, "corpus_ratio": round(totals["held"] / len(wanted), 4) if wanted else 1.0},
        "counts": counts.seven(),
        "failed_by": counts.failed_by,
        "list_refused": _refused(history.refused),
        "versions": history.versions,
        "runs": [_run(runs, place, history, ended, held_then) for place in range(len(runs))],
        "missing": [_missing(cases[key]) for key in missing[:FAILED_SHOWN]],
        "missing_not_failed": {
            "count": len(others),
            "documents": [_missing(cases[key]) for key in others[:FAILED_SHOWN]],
        },
        "withdrawn": [_missing(case) for case in cases.values() if not case.is_active][:WITHDRAWN_SHOWN],
        "failed": [
            {"key": row.name, "code": row.code, "because": row.because, "attempts": row.attempts}
            for row in standing[:FAILED_SHOWN]
        ],
        "failed_count": len(standing),
        "superseded": len(gone),
        "documents": rows,
    }


def _refused(version: Version | None) -> dict[str, str] | None:
    if version is None:
        return None
    return {"at": iso(version.fetched_at_ms) or "", "because": version.error_message}


def _held(ledger: Ledger, job: Job) -> Iterator[DocumentRecord]:
    after = (0, -1)
    while rows := ledger.results(job.id, after=after, limit=ROWS_AT_ONCE):
        yield from (read_record(row) for row in rows)
        after = (rows[-1].target, rows[-1].n)


def _standing(
    failed: Sequence[TargetRow], gone: set[int], cases: Mapping[str, Case], held: Set[str], missing: Set[str]
) -> list[TargetRow]:
    """What failed and is not held. Of an address that the list no longer has only where nothing newer is known of a
    document that is missing: its new one is still to come."""
    keys = [_key_of(row, cases) for row in failed]
    newest = {key: row.id for key, row in zip(keys, failed, strict=True) if row.id in gone}
    newest |= {key: 0 for key, row in zip(keys, failed, strict=True) if row.id not in gone}
    return [
        row
        for key, row in zip(keys, failed, strict=True)
        if (key in missing and newest[key] == row.id if row.id in gone else key not in held)
    ]


def _key_of(row: TargetRow, cases: Mapping[str, Case]) -> str:
    """Of its document, as the list names it."""
    name, of_document = names_of(row.name or "")
    return name if name in cases else of_document


def _missing(case: Case) -> dict[str, str]:
    return {"key": case.entry.key, "title": case.entry.title}


class _Ended(msgspec.Struct, frozen=True):
    """How many documents came to which end in which run, and when each was first held."""

    by_run: Counter[tuple[int, str]]
    held_ms: dict[str, int]  # by the name of its target, and as the list names it

    @classmethod
    def of(cls, ledger: Ledger, job: Job, runs: Sequence[RunLook]) -> _Ended:
        """One that was only ever worked once ended where its row says; of others, fetched again or tried anew, every
        run has its own attempts."""
        found = cls(Counter(), {})
        after = 0
        while rows := ledger.targets(job.id, after=after, limit=ROWS_AT_ONCE):
            for row in rows:
                if row.generation == 1:
                    ends = [(row.run, row.status, row.settled_at or 0)] if row.run and row.status in ENDS else []
                else:
                    tried = [each for each in ledger.attempts(row.id) if each.outcome in ENDS]
                    ends = [(run_of(runs, each.ended_at).n, each.outcome, each.ended_at) for each in tried]
                found.by_run.update({run: (run, end) for run, end, _ in ends}.values())
                if held := [at for _, end, at in ends if end == "succeeded"]:
                    for name in names_of(row.name or ""):
                        found.held_ms[name] = min(*held, found.held_ms.get(name, held[0]))
            after = rows[-1].id
        return found


def _run(
    runs: list[RunLook], place: int, history: ListHistory, ended: _Ended, held_then: Mapping[int, int]
) -> dict[str, Any]:
    """DOC-36 of one run: what ended in it, by rows, and what its books had left over. What was held before a run was
    not planned by it, unless it was fetched again; nor was what its limit left for a later one. The collection is as it
    was when the run ended."""
    run, before = runs[place], runs[place - 1] if place else None
    named = {"mode": run.mode, "trigger": run.trigger, "status": run.status, "stop_reason": run.stop_reason,
             "started_at": iso(run.started_at), "ended_at": iso(run.ended_at)}  # fmt: skip
    if run.counts is None or run.ended_at is None:
        return {"run_id": f"R-{run.n}", **named}
    downloaded, failed = (ended.by_run[run.n, end] for end in ENDS)
    left = 0 if run.stop_reason == "page_limit" else run.counts.pending + run.counts.in_progress
    then = history.at(run.ended_at)
    counts = RunCounts(
        cases_total=then.listed,
        cases_planned=downloaded + failed + left,
        cases_attempted=downloaded + failed,
        cases_downloaded=downloaded,
        cases_failed=failed,
        cases_skipped=max(run.counts.skipped - (before.counts.skipped if before and before.counts else 0), 0),
        cases_held=held_then[run.ended_at],
        collectable=then.wanted,
    )
    name = f"R-{run.n}"
    told = summary(
        counts, name, dict(run.counts.failed_by), started_at=named["started_at"] or "", ended_at=named["ended_at"] or ""
    )
    return {**coverage(counts, name), **named, "summary": told, "totals": in_four(counts)}


def as_markdown(report: dict[str, Any]) -> str:
    """For people: the numbers, the versions, the runs, what is missing."""
    whole = report["collection"]
    share = _percent(whole["corpus_ratio"])
    totals = {word: whole[name] for word, name in TOTALS.items() if name != "criminal" or whole[name]}
    lines = [
        f"# {report['name']}",
        "",
        f"{whole['held']} of {whole['collectable']} documents are held ({share}, {_size(whole['bytes'])}). "
        f"The list is {report['list']}.",
        *_said_of(report["list_refused"]),
        "",
        f"| {' | '.join(totals)} |",
        f"|{'---|' * len(totals)}",
        f"| {' | '.join(map(str, totals.values()))} |",
        "",
        "## Versions of the list",
        "",
        "| version | documents | new | changed | removed | returned |",
        "|---|---|---|---|---|---|",
    ]
    for each in report["versions"]:
        if "error" in each:
            lines.append(f"| {each['version']} | {text(each['error'])} | | | | |")
        else:
            words = ("version", "documents", "new", "changed", "removed", "returned")
            lines.append("| " + " | ".join(str(each[word]) for word in words) + " |")
    if last := next((each for each in report["versions"][-1:] if each.get("left_out")), None):
        lines += ["", f"Left out of {last['rows']} rows: {last['left_out']}."]
    lines += ["", "## Runs", "", "| run | mode | started by | planned | downloaded | failed | coverage | health |",
              "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for each in report["runs"]:
        shown = {**each, "coverage_ratio": _percent(each["coverage_ratio"])} if "coverage_ratio" in each else each
        lines.append("| " + " | ".join(str(shown.get(word, "")) for word in RUN_COLUMNS) + " |")
    if report["failed"]:
        lines += ["", "## Failed", "", "| document | code | last word |", "|---|---|---|"]
        lines += [
            f"| {text(each['key'])} | {each['code']} | {text(each['because'] or '')} |" for each in report["failed"]
        ]
        lines += _more(report["failed_count"] - len(report["failed"]))
    if gone := report["superseded"]:
        are = "is" if gone == 1 else "are"
        lines += ["", f"Of what had failed, {gone} {are} no longer in the list, and not asked for again."]
    if missing := report["missing_not_failed"]["documents"]:
        lines += ["", "## Missing, and not failed", "", "| document | title |", "|---|---|"]
        lines += [f"| {text(each['key'])} | {text(each['title'])} |" for each in missing]
        lines += _more(report["missing_not_failed"]["count"] - len(missing))
    if report["withdrawn"]:
        lines += ["", "## Withdrawn from the list", "", "| document | title |", "|---|---|"]
        lines += [f"| {text(each['key'])} | {text(each['title'])} |" for each in report["withdrawn"]]
    return "\n".join(lines) + "\n"


def _said_of(refused: dict[str, str] | None) -> list[str]:
    if refused is None:
        return []
    return [
        "",
        f"**On {refused['at']} the list could not be used: {text(refused['because'])}. The last good one serves.**",
    ]


def _more(count: int) -> list[str]:
    return ["", f"And {count} more."] if count > 0 else []


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{count / 1e3:.1f} kB"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %"
