"""Reading the in-memory ledger: committed rows only, never a write."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import NotFound
from holdfast.model.edit import NEW
from holdfast.model.job import ANY_JOB, Counts, Job, JobFilter
from holdfast.model.outcome import GONE, UNCHANGED
from holdfast.model.record import Checkpoint, Event
from holdfast.model.states import State, wire_status
from holdfast.model.target import AttemptRow, PageRow, TargetRow
from holdfast.policy.filters import Condition, matches, resolved
from oracle.books import checkpoints_of, counts_of, read_job
from oracle.state import Tables, TargetState

UID = "J-"
NAMES_SHOWN = 5


def find_job(tables: Tables, reference: int | str, owner: str | None = None) -> Job:
    """By number, name, id, or a prefix of the id that only one job has."""
    jobs = list_jobs(tables, owner, ANY_JOB, 0, None)
    for job in jobs:
        if reference in (job.id, job.name, job.uid):
            return job
    if isinstance(reference, int):
        raise NotFound(f"there is no job {reference}")
    begun = [job for job in jobs if reference.startswith(UID) and reference != UID and job.uid.startswith(reference)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        ids = ", ".join(job.uid for job in begun)
        raise NotFound(f"{reference} is the beginning of several job ids: {ids}")
    names = ", ".join(job.name for job in jobs[::-1][:NAMES_SHOWN])
    there = f"this ledger has: {names}" if names else "this ledger has no jobs yet"
    raise NotFound(f"there is no job {reference!r}; {there}")


def list_jobs(tables: Tables, owner: str | None, where: JobFilter, after: int, limit: int | None) -> list[Job]:
    theirs = [job for job in tables.jobs.values() if owner in (None, tables.owners[job.id]) and job.id > after]
    wanted = where.wanted().items()
    return [job for job in theirs if all(getattr(job, name) == value for name, value in wanted)][:limit]


def books(tables: Tables, job: int) -> tuple[Job, Counts, Checkpoint | None]:
    standing = [point for point in checkpoints_of(tables, job) if (job, point.number) not in tables.undone_by]
    valid = [point for point in standing if point.is_valid()]
    return read_job(tables, job), counts_of(tables, job), valid[-1] if valid else None


def plan(tables: Tables, job: int) -> tuple[int, bool, bytes]:
    read_job(tables, job)
    row = tables.plans[job]
    return row.cursor, row.done, row.trail


def mode(tables: Tables, job: int) -> str:
    read_job(tables, job)
    return tables.plans[job].mode


def targets(tables: Tables, job: int, where: Sequence[Condition], after: int, limit: int) -> list[TargetRow]:
    read_job(tables, job)
    meant = resolved(where, tables.at.wall_ms)
    rows = [row_of(tables, each) for each in tables.targets.values() if each.job == job and each.id > after]
    return [row for row in rows if matches(row, meant)][:limit]


def row_of(tables: Tables, target: TargetState) -> TargetRow:
    body = tables.bodies.get((target.id, result_generation(tables, target)))
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
        name=target.found.name or None,
        size=body.size if body else None,
        run=_run_at(tables, target),
        label=tables.labels.get(target.id),
    )


def _run_at(tables: Tables, target: TargetState) -> int | None:
    """The run that was the newest when it was settled."""
    at = target.settled_at
    runs = [n for (job, n), run in tables.runs.items() if job == target.job and at is not None and run.started_at <= at]
    return max(runs, default=None)


def pages(tables: Tables, job: int, after: int, limit: int) -> list[PageRow]:
    """Succeeded targets with a body and a first record; one that is fetched again as it was until it is settled."""
    read_job(tables, job)
    done = [t for t in tables.targets.values() if t.job == job and t.id > after and is_served(tables, t)]
    found = [_page(tables, target) for target in done]
    return [page for page in found if page is not None][:limit]


def results(tables: Tables, job: int, where: Sequence[Condition], after: tuple[int, int], limit: int) -> list[PageRow]:
    """Every record of succeeded targets, by (target, n)."""
    read_job(tables, job)
    done = [t for t in tables.targets.values() if t.job == job and is_served(tables, t)]
    wanted = [t for t in done if matches(row_of(tables, t), resolved(where, tables.at.wall_ms))]
    newest = {t.id: max((key[1] for key in tables.records if key[0] == t.id), default=0) for t in wanted}
    keys = [key for key in sorted(tables.records) if newest.get(key[0]) == key[1]]
    behind = [key for key in keys if (key[0], key[2]) > after]
    return [result_of(tables, tables.targets[target], n, generation) for target, generation, n in behind[:limit]]


def is_served(tables: Tables, target: TargetState) -> bool:
    """Succeeded, or put back after it had: then as it was, until it is settled anew, or where it cannot be had now.

    Not what was skipped, what the site said is gone since, or whose bytes are lost.
    """
    if target.state in (State.SUCCEEDED, State.SKIPPED):
        return target.state == State.SUCCEEDED
    earlier = [row for (owner, _, _), row in tables.undo.items() if owner == target.id]
    recorded = _recorded(tables, target)
    since = [target, *(row.before for row in earlier if row.before.generation > recorded)]
    good = any((row.before.state, row.before.generation) == (State.SUCCEEDED, recorded) for row in earlier)
    lost = any(row.verb == "mend" and row.before.generation >= recorded for row in earlier)
    return good and not lost and not any(_is_gone(tables, each) for each in since)


def result_generation(tables: Tables, target: TargetState) -> int:
    """The generation of its result: an unchanged target has none of its own, and stands by its last one."""
    return _recorded(tables, target) if target.disposition == UNCHANGED else target.generation


def record_before(tables: Tables, target: TargetState) -> bytes:
    """The first record of its last good result, as long as it is in hand again; empty where there is none."""
    if tables.plans[target.job].mode != NEW or not is_served(tables, target):
        return b""
    return tables.records[target.id, _recorded(tables, target), 0].doc


def _recorded(tables: Tables, target: TargetState) -> int:
    return max((key[1] for key in tables.records if key[0] == target.id), default=0)


def _is_gone(tables: Tables, target: TargetState) -> bool:
    """Settled by an answer that says that there is no such page."""
    attempt = None if target.settled_by is None else tables.attempts.get((*target.settled_by, target.id))
    return attempt is not None and attempt.status_code in GONE


def _page(tables: Tables, target: TargetState) -> PageRow | None:
    newest = max((gen for owner, gen in tables.bodies if owner == target.id), default=0)
    return result_of(tables, target, 0, newest) if (target.id, newest, 0) in tables.records else None


def result_of(tables: Tables, target: TargetState, n: int, generation: int) -> PageRow:
    """One record of a target, of this generation."""
    place = target.id, generation
    body, record = tables.bodies.get(place), tables.records[*place, n]
    return PageRow(
        target=target.id,
        url=target.url,
        depth=target.found.depth,
        parent_url=None if target.parent is None else tables.targets[target.parent].url,
        record=record.doc,
        segment=body.segment if body else "",
        offset=body.offset if body else 0,
        length=body.length if body else 0,
        size=body.size if body else 0,
        sha256=body.sha256 if body else b"",
        media=body.media if body else "",
        found_at=target.found_at,
        run=tables.record_run[*place, n],
        n=n,
        kind=record.kind,
        key=target.found.key,
        type=target.found.type,
        name=target.found.name,
        file=tables.artifacts[*place, 0].path if (*place, 0) in tables.artifacts else "",
    )


def history(tables: Tables, job: int, target: int | None) -> tuple[list[Event], list[AttemptRow]]:
    read_job(tables, job)
    events = [event for event in tables.events.values() if tables.chunks[event.chunk].job == job]
    attempts = [row for row in tables.attempts.values() if row.target == target]
    return sorted(events, key=lambda event: (event.at, event.chunk, event.seq)), attempts
