"""The audit of a documents job (DOC-11): its report, and a line per run and case. Both are made from the ledger when
they are asked for, so that they are there after every ending, a kill included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from holdfast.clock import iso

if TYPE_CHECKING:
    from holdfast.model.artifact import ArtifactRow
    from holdfast.model.job import Job
    from holdfast.model.look import RunLook
    from holdfast.model.target import AttemptRow, TargetRow
    from holdfast.ports import Ledger

ROWS_AT_ONCE = 1_000
STATUSES = {"succeeded": "downloaded", "cancelled": "skipped"}  # the others are called alike


def audit_files(ledger: Ledger, job: Job, document: dict[str, Any]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, lines) of each file. Named by when the newest run began: every run has files of its own."""
    runs = ledger.runs(job.id)
    began = runs[-1].started_at if runs else job.created_at
    stamp = datetime.fromtimestamp(began / 1000, UTC).strftime("%Y%m%d_%H%M%S")
    yield f"audit_{stamp}.json", iter([msgspec.json.format(msgspec.json.encode(document)), b"\n"])
    yield f"downloads_{stamp}.ndjson", _download_lines(ledger, job, runs)


def _download_lines(ledger: Ledger, job: Job, runs: Sequence[RunLook]) -> Iterator[bytes]:
    after = 0
    while rows := ledger.targets(job.id, after=after, limit=ROWS_AT_ONCE):
        files = _files(ledger, job, after, rows[-1].id)
        for row in rows:
            for download in _downloads(row, ledger.attempts(row.id), runs, files.get(row.id)):
                yield msgspec.json.encode(download) + b"\n"
        after = rows[-1].id


def _files(ledger: Ledger, job: Job, after: int, last: int) -> dict[int, ArtifactRow]:
    """The newest file of each target after one and up to another."""
    found: dict[int, ArtifactRow] = {}
    place = (after, 2**31)
    while rows := ledger.artifacts(job.id, after=place, limit=ROWS_AT_ONCE):
        for row in rows:
            if row.target > last:
                return found
            if row.target not in found or found[row.target].generation <= row.generation:
                found[row.target] = row
        place = (rows[-1].target, rows[-1].n)
    return found


def _downloads(
    row: TargetRow, attempts: Sequence[AttemptRow], runs: Sequence[RunLook], file: ArtifactRow | None
) -> Iterator[dict[str, Any]]:
    tried = [(run, list(part)) for run, part in groupby(attempts, key=lambda attempt: run_of(runs, attempt.ended_at))]
    for run, part in tried:
        yield _download(row, run, part, file, is_last=run is tried[-1][0])
    if not tried and runs:
        yield _download(row, run_of(runs, row.found_at or 0), (), file, is_last=True)


def run_of(runs: Sequence[RunLook], at_ms: int) -> RunLook:
    """The newest then, of runs by their number."""
    return runs[max(bisect_right(runs, at_ms, key=lambda run: run.started_at), 1) - 1]


def _download(
    row: TargetRow, run: RunLook, attempts: Sequence[AttemptRow], file: ArtifactRow | None, *, is_last: bool
) -> dict[str, Any]:
    last = attempts[-1] if attempts else None
    status = row.status if is_last or last is None else ("failed" if last.code else last.outcome)
    is_held = is_last and status == "succeeded" and file is not None
    return {
        "run_id": f"R-{run.n}",
        "case_id": row.name,
        "status": STATUSES.get(status, status),
        "attempt_count": len(attempts),
        "last_attempt_at": iso(last.ended_at) if last else None,
        "file_path": f"artifacts/{file.path}" if is_held and file else None,
        "file_size_bytes": file.size if is_held and file else None,
        "box_url_last": _without_signature(file.url) if is_held and file else None,
        "error_code": last.code if last else None,
        "error_message": last.message if last and last.code else None,
        "created_at": iso(attempts[0].began_at if attempts else row.found_at or run.started_at),
        "updated_at": iso(last.ended_at if last else row.settled_at or row.found_at or run.started_at),
    }


def _without_signature(url: str) -> str:
    """Its query may be what lets anybody in, and has ended anyway."""
    return urlunsplit(urlsplit(url)._replace(query="", fragment=""))
