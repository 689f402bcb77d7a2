"""Rows as every surface shows them: targets, failures in groups, changes. Keys and their order are a contract."""

from __future__ import annotations

import shlex
from typing import Any

from holdfast.clock import iso
from holdfast.model.job import Job
from holdfast.model.look import Change, Failures
from holdfast.model.target import TargetRow


def target_document(row: TargetRow) -> dict[str, Any]:
    return {
        "id": f"T-{row.id:x}",
        "key": row.name or row.key.hex(),
        "url": row.url,
        "type": row.type,
        "status": row.status,
        "disposition": row.disposition,
        "rule": row.rule,
        "code": row.code,
        "depth": row.depth,
        "parent": None if row.parent is None else f"T-{row.parent:x}",
        "host": row.host,
        "engine": None,
        "chunk": f"C-{row.chunk:x}",
        "generation": row.generation,
        "attempts": row.attempts,
        "not_before": iso(row.not_before),
        "because": row.because,
        "found_at": iso(row.found_at),
        "settled_at": iso(row.settled_at),
        "run": None if row.run is None else f"R-{row.run}",
        "label": row.label,
    }


def failures_document(job: Job, group: Failures) -> dict[str, Any]:
    """The fields of ux 5.2, in their order."""
    return {
        "code": group.code,
        "host": group.host,
        "count": group.count,
        "first_at": iso(group.first_at),
        "last_at": iso(group.last_at),
        "example": {"target": f"T-{group.target:x}", "url": group.url, "message": group.message},
        "hint": retry_command(job, f"code:{group.code} host:{group.host}"),
    }


def retry_command(job: Job, where: str) -> str:
    return f"holdfast retry {job.name} --where {shlex.quote(where)}"


def change_document(change: Change) -> dict[str, Any]:
    return {
        "change": change.kind,
        "target": f"T-{change.target:x}",
        "url": change.url,
        "sha256_before": None if change.before is None else change.before.hex(),
        "sha256_after": None if change.after is None else change.after.hex(),
        "because": change.because,
    }
