"""The run that a change-detection webhook starts, whichever way it was told (NOT-05, NOT-06): new documents, a bounded
number of them, and a short answer. Who may call it, and over what, is not decided here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.control.list_store import ListStore, WriteFile
from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.ports import Journal, Ledger
from holdfast.recipes.documents.report import documents_report
from holdfast.recipes.documents.versions import last_good

WEBHOOK = "webhook"
NEW_LIMIT_MAX = 50  # documents that one run may take; that many where nothing was asked for
EVENT = "limit_clamped"


def bounded(asked: int | None) -> int:
    """The limit of a run. What is more than NEW_LIMIT_MAX is clamped; less than one is refused."""
    if asked is not None and asked < 1:
        raise BadParams(f"new_limit is at least 1, not {asked}")
    return NEW_LIMIT_MAX if asked is None else min(asked, NEW_LIMIT_MAX)


def clamped(asked: int | None) -> str:
    """What to say where the limit is not what was asked for; "" where it is."""
    limit = bounded(asked)
    return f"{EVENT}: {asked} -> {limit}" if asked is not None and asked != limit else ""


def log_clamped(journal: Journal, asked: int | None) -> None:
    """The event in the job's log."""
    if clamped(asked):
        journal("warning", "WEBHOOK", event=EVENT, asked=asked, limit=bounded(asked))


def answer(ledger: Ledger, job: Job, artifacts: Path, write_file: WriteFile) -> dict[str, Any]:
    """What the caller is told of the job's latest run, over or not."""
    report = documents_report(ledger, job, artifacts)
    source = job.params["source"]
    serving = last_good(ListStore(artifacts, write_file).versions(source), source)
    latest = report["runs"][-1] if report["runs"] else {}
    return {
        "ok": True,
        "entrypoint": WEBHOOK,
        "mode": "new",
        "target_source": source,
        "run_id": latest.get("run_id"),
        "csv_version_id": serving.number if serving else None,
        "summary": latest.get("totals") or dict.fromkeys(("processed", "downloaded", "skipped", "failed"), 0),
    }
