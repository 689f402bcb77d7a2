"""The audit of a job (CAS-05): its statistics, and one line per attempt. Both are made from the ledger when they are
asked for, so that they are there after every ending, a kill included, and never tell less than was committed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.recipes.cases.report import case_report

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.model.look import RunLook
    from holdfast.model.target import AttemptRow, TargetRow
    from holdfast.ports import Ledger

ROWS_AT_ONCE = 1_000


def audit_files(ledger: Ledger, job: Job) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, lines) of each file. Named by when the newest run began: every run has files of its own."""
    runs = ledger.runs(job.id)
    began = runs[-1].started_at if runs else job.created_at
    stamp = datetime.fromtimestamp(began / 1000, UTC).strftime("%Y%m%d_%H%M%S")
    document = case_report(ledger, job).document
    yield f"audit_{stamp}.json", iter([msgspec.json.format(msgspec.json.encode(document)), b"\n"])
    yield f"attempts_{stamp}.ndjson", _attempt_lines(ledger, job, runs)


def _attempt_lines(ledger: Ledger, job: Job, runs: Sequence[RunLook]) -> Iterator[bytes]:
    after = 0
    while rows := ledger.targets(job.id, after=after, limit=ROWS_AT_ONCE):
        for row in rows:
            attempts = ledger.attempts(row.id)
            for attempt in attempts:
                yield msgspec.json.encode(_line(row, attempt, runs, is_last=attempt is attempts[-1])) + b"\n"
        after = rows[-1].id


def _line(row: TargetRow, attempt: AttemptRow, runs: Sequence[RunLook], *, is_last: bool) -> dict[str, Any]:
    place = bisect_right([run.started_at for run in runs], attempt.ended_at)
    ended = datetime.fromtimestamp(attempt.ended_at / 1000, UTC).isoformat(timespec="milliseconds")
    settled = is_last and row.status == "succeeded"
    return {
        "run_id": f"R-{runs[max(place, 1) - 1].n}",
        "case_id": row.name,
        "attempt": attempt.n,
        "outcome": _outcome(row, attempt) if settled or attempt.code else attempt.outcome,
        "status_code": attempt.status_code,
        "timestamp": ended.replace("+00:00", "Z"),
        "error": None if attempt.code is None else f"{attempt.code}: {attempt.message or ''}",
        "html_path": f"sha256:{row.sha256.hex()}" if settled and row.sha256 else None,
    }


def _outcome(row: TargetRow, attempt: AttemptRow) -> str:
    """CAS-03."""
    if attempt.code:
        return "failed"
    return "no_record" if row.disposition == "no_record" else "success"
