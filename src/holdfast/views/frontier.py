"""What comes next, as every surface shows it: groups of pending targets and the next of them, each with its because."""

from __future__ import annotations

from typing import Any

from holdfast.clock import iso
from holdfast.model.job import Job
from holdfast.model.look import Upcoming
from holdfast.policy.waiting import Wait, host_wait, target_wait
from holdfast.ports import Surveys

GROUPINGS = ("host", "depth", "pattern")


def frontier_document(ledger: Surveys, job: Job, by: str, *, limit: int, now_ms: int) -> dict[str, Any]:
    """Groups, and the next targets with `not_before` and `because` (ux 5.2)."""
    return {
        "schema": "holdfast.frontier/1",
        "job": job.uid,
        "by": by,
        "groups": _by_host(ledger, job, now_ms) if by == "host" else _by(ledger, job, by),
        "targets": [upcoming_document(row, now_ms) for row in ledger.upcoming(job.id, limit=limit)],
        "next_cursor": None,
    }


def _by_host(ledger: Surveys, job: Job, now_ms: int) -> list[dict[str, Any]]:
    groups = []
    for row in ledger.hosts_waiting(job.id):
        wait = host_wait(row.host, next_at=row.next_at, hold_until=row.hold_until, now_ms=now_ms)
        groups.append(_group(row.host, row.pending, row.in_progress, wait))
    return groups


def _by(ledger: Surveys, job: Job, by: str) -> list[dict[str, Any]]:
    return [_group(name, n, None, Wait(None, None)) for name, n in ledger.pending_by(job.id, by)]


def _group(name: str, pending: int, in_progress: int | None, wait: Wait) -> dict[str, Any]:
    return {
        "group": name,
        "pending": pending,
        "in_progress": in_progress,
        "not_before": iso(wait.not_before),
        "because": wait.because,
    }


def upcoming_document(row: Upcoming, now_ms: int) -> dict[str, Any]:
    of_host = host_wait(row.host, next_at=row.next_at, hold_until=row.hold_until, now_ms=now_ms)
    wait = target_wait(Wait(row.not_before, row.because), of_host, is_suspect=row.is_suspect)
    return {
        "id": f"T-{row.id:x}",
        "url": row.url,
        "type": row.type,
        "host": row.host,
        "depth": row.depth,
        "parent": None if row.parent is None else f"T-{row.parent:x}",
        "not_before": iso(wait.not_before),
        "because": wait.because,
    }
