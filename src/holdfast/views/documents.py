"""Rows as every surface shows them: targets, failures in groups, changes. Keys and their order are a contract."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from holdfast.clock import iso
from holdfast.model.host import HostLook
from holdfast.model.job import Counts, Job
from holdfast.model.keys import canonical
from holdfast.model.look import Change, Failures, RunLook
from holdfast.model.spelling import parts_of
from holdfast.model.target import TargetRow
from holdfast.ports import Hosts

_TOTALS = {"discovered": "total"}


def target_document(row: TargetRow, chunks: Mapping[int, str] = MappingProxyType({})) -> dict[str, Any]:
    """`chunks`: the names of the job's chunks by id, where they have names."""
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
        "host": row.host or _host_of(row.url),
        "engine": None,
        "chunk": chunks.get(row.chunk) or f"C-{row.chunk:x}",
        "generation": row.generation,
        "attempts": row.attempts,
        "not_before": iso(row.not_before),
        "because": row.because,
        "found_at": iso(row.found_at),
        "settled_at": iso(row.settled_at),
        "run": None if row.run is None else f"R-{row.run}",
        "label": row.label,
    }


def run_document(row: RunLook, job: Job, counts: Counts | None) -> dict[str, Any]:
    """JOB-05 and JOB-06. The counts are the books at the run's end, not its share of them (decision 0033).

    None: a run that ended under an earlier version kept none.
    """
    seven = (counts or Counts()).seven()
    failed_by = None if counts is None else counts.failed_by
    return {
        "run_id": f"R-{row.n}",
        "job_id": job.uid,
        "mode": row.mode,
        "trigger": row.trigger,
        "status": row.status,
        "started_at": iso(row.started_at),
        "ended_at": iso(row.ended_at),
        "stop_reason": row.stop_reason,
        "health": row.health,
        "params": job.params,
        "error_summary": parts_of(failed_by or {}) or None,
        "error_counts": failed_by,
        **{f"targets_{_TOTALS.get(name, name)}": n if counts else None for name, n in seven.items()},
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
    return f"holdfast retry {job.word} --where {shlex.quote(where)}"


def change_document(change: Change) -> dict[str, Any]:
    return {
        "change": change.kind,
        "target": f"T-{change.target:x}",
        "url": change.url,
        "sha256_before": None if change.before is None else change.before.hex(),
        "sha256_after": None if change.after is None else change.after.hex(),
        "because": change.because,
    }


def _host_of(url: str) -> str:
    """Of a target that waited for no host, since an archive answered; empty of one that is made of others."""
    address = canonical(url)
    return "" if address is None else address.host


def host_document(look: HostLook, now_ms: int) -> dict[str, Any]:
    return {
        "host": look.host,
        "delay_seconds": _seconds(look.delay_ms),
        "concurrency": look.concurrency,
        "crawl_delay_seconds": _seconds(look.crawl_delay_ms),
        "in_flight": look.in_flight,
        "backs_off_until": iso(look.hold_until) if look.hold_until > now_ms else None,
        "breaker": look.breaker(now_ms),
        "failures": look.fails,
        "robots_at": iso(look.robots_at),
    }


def every_host(ledger: Hosts, host: str | None = None) -> Iterator[HostLook]:
    """All hosts by name, a bounded number at a time, or the one that is named."""
    after = ""
    while found := ledger.hosts(host=host, after=after):
        yield from found
        if host is not None:
            return
        after = found[-1].host


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
