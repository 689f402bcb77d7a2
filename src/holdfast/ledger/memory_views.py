"""Reading the in-memory ledger: committed rows only, never a write."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import NotFound
from holdfast.ledger.memory_books import checkpoints_of, counts_of, read_job
from holdfast.ledger.memory_state import Tables, TargetState
from holdfast.model.job import Counts, Job
from holdfast.model.record import Checkpoint, Event
from holdfast.model.states import State, wire_status
from holdfast.model.target import AttemptRow, PageRow, TargetRow
from holdfast.policy.filters import Condition, matches

UID = "J-"
NAMES_SHOWN = 5


def find_job(tables: Tables, reference: str) -> Job:
    """By name, id, or a prefix of the id that only one job has."""
    jobs = list(tables.jobs.values())
    for job in jobs:
        if reference in (job.name, job.uid):
            return job
    begun = [job for job in jobs if reference.startswith(UID) and reference != UID and job.uid.startswith(reference)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        ids = ", ".join(job.uid for job in begun)
        raise NotFound(f"{reference} is the beginning of several job ids: {ids}")
    names = ", ".join(job.name for job in jobs[::-1][:NAMES_SHOWN])
    there = f"this ledger has: {names}" if names else "this ledger has no jobs yet"
    raise NotFound(f"there is no job {reference!r}; {there}")


def books(tables: Tables, job: int) -> tuple[Job, Counts, Checkpoint | None]:
    valid = [point for point in checkpoints_of(tables, job) if point.is_valid()]
    return read_job(tables, job), counts_of(tables, job), valid[-1] if valid else None


def plan(tables: Tables, job: int) -> tuple[int, bool]:
    read_job(tables, job)
    return tables.plans[job].cursor, tables.plans[job].done


def targets(tables: Tables, job: int, where: Sequence[Condition], after: int, limit: int) -> list[TargetRow]:
    read_job(tables, job)
    rows = [_row(tables, each) for each in tables.targets.values() if each.job == job and each.id > after]
    return [row for row in rows if matches(row, where)][:limit]


def _row(tables: Tables, target: TargetState) -> TargetRow:
    body = tables.bodies.get((target.id, target.generation))
    return TargetRow(
        id=target.id,
        key=target.found.key,
        url=target.url,
        type=target.found.type,
        status=wire_status(target.state),
        disposition=target.disposition,
        rule=target.rule,
        code=target.code,
        depth=target.found.depth,
        parent=target.parent,
        host=target.found.host,
        chunk=target.chunk,
        generation=target.generation,
        attempts=target.attempts,
        not_before=target.not_before,
        because=target.because,
        found_at=target.found_at,
        settled_at=target.settled_at,
        sha256=body.sha256 if body else None,
    )


def pages(tables: Tables, job: int, after: int, limit: int) -> list[PageRow]:
    """Succeeded targets with a body and a first record."""
    read_job(tables, job)
    done = [t for t in tables.targets.values() if t.job == job and t.id > after and t.state == State.SUCCEEDED]
    found = [_page(tables, target) for target in done]
    return [page for page in found if page is not None][:limit]


def _page(tables: Tables, target: TargetState) -> PageRow | None:
    body = tables.bodies.get((target.id, target.generation))
    record = tables.records.get((target.id, target.generation, 0))
    if body is None or record is None:
        return None
    return PageRow(
        target=target.id,
        url=target.url,
        depth=target.found.depth,
        parent_url=None if target.parent is None else tables.targets[target.parent].url,
        record=record.doc,
        segment=body.segment,
        offset=body.offset,
        length=body.length,
        size=body.size,
        sha256=body.sha256,
        media=body.media,
        found_at=target.found_at,
        run=target.run,
    )


def history(tables: Tables, job: int, target: int | None) -> tuple[list[Event], list[AttemptRow]]:
    read_job(tables, job)
    events = [event for event in tables.events.values() if tables.chunks[event.chunk].job == job]
    attempts = [row for row in tables.attempts.values() if row.target == target]
    return sorted(events, key=lambda event: (event.at, event.chunk, event.seq)), attempts
