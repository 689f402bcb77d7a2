"""Bookkeeping of the in-memory ledger: commit numbers, events, tallies, counts, checkpoints. It moves no status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from holdfast.errors import BatchMismatch, Corrupt, NotFound
from holdfast.model.edit import EXCLUDED
from holdfast.model.job import Counts, Job
from holdfast.model.record import Checkpoint, Circumstances, Event, StandingWalk
from holdfast.model.states import COUNTED, State, wire_status
from holdfast.model.target import Found
from holdfast.policy.exclusion import ExclusionRules
from holdfast.policy.traps import LIMIT, PER_HOST
from oracle.state import ChunkRow, Commit, Entry, Saved, Tables, TargetState

ENDS_OF_A_HOLD = ("rescue", "release")


def read_job(tables: Tables, job: int) -> Job:
    try:
        return tables.jobs[job]
    except KeyError:
        raise NotFound(f"there is no job {job}") from None


def chunks_of(tables: Tables, job: int) -> list[ChunkRow]:
    """In the order in which they are taken: control, plan, work by index."""
    return [chunk for chunk in tables.chunks.values() if chunk.job == job]


def chunk_of(tables: Tables, job: int, kind: str, index: int = 0) -> ChunkRow:
    for chunk in chunks_of(tables, job):
        if chunk.kind == kind and chunk.index == index:
            return chunk
    raise Corrupt(f"job {job} has no {kind} chunk {index}")


def add_entry(tables: Tables, chunk: int, verb: str, digest: bytes = b"") -> int:
    """Take the chunk's next commit number; the numbers of a chunk are 1..n without gaps."""
    row = tables.chunks[chunk]
    tables.chunks[chunk] = replace(row, no=row.no + 1)
    tables.entries[chunk, row.no + 1] = Entry(row.epoch, verb, tables.at.wall_ms, digest)
    return row.no + 1


def is_stored(tables: Tables, chunk: int, epoch: int, no: int, digest: bytes) -> bool:
    """Whether this very batch is already in. Under its number may also stand what ended the hold: then it is not."""
    entry = tables.entries.get((chunk, no))
    if entry is None or entry.epoch != epoch or entry.verb in ENDS_OF_A_HOLD:
        return False
    if entry.digest != digest:
        raise BatchMismatch(f"commit {no} of chunk {chunk} was repeated with other contents")
    return True


def add_event(
    tables: Tables, chunk: int, thing: str, verb: str, source: str, target: str, *, actor: str, because: str = ""
) -> None:
    """One line of history, in the transaction of the move it tells."""
    row = tables.chunks[chunk]
    tables.chunks[chunk] = replace(row, seq=row.seq + 1)
    tables.events[chunk, row.seq + 1] = Event(
        chunk=chunk,
        seq=row.seq + 1,
        at=tables.at.wall_ms,
        actor=actor,
        thing=thing,
        verb=verb,
        source=source,
        target=target,
        because=because,
    )


def put(tables: Tables, row: TargetState, by: int) -> None:
    """Store a target and note the difference in the tallies of the chunk whose commit this is."""
    before = tables.targets.get(row.id)
    if before is not None:
        tables.tallies[by, before.found.type, wire_status(before.state), before.reason] -= 1
    tables.tallies[by, row.found.type, wire_status(row.state), row.reason] += 1
    tables.targets[row.id] = row


def rules_of(tables: Tables, job: int) -> ExclusionRules:
    """The exclusions that are active now."""
    generation = tables.jobs[job].generation
    every = [each for (owner, _), each in sorted(tables.exclusions.items(), key=lambda item: item[0]) if owner == job]
    return ExclusionRules(each for each in every if each.is_active(generation))


FoundBy = tuple[Found, Commit, int | None]  # what, in which commit, on which page


def add_found(tables: Tables, job: Job, found: Sequence[FoundBy], per_host_max: int = 0) -> None:
    """New targets of one call: the first finder of a key wins, and ids follow the keys, as sorted inserts give them."""
    rules = rules_of(tables, job.id)
    first: dict[bytes, FoundBy] = {}
    for item, by, parent in found:
        rule = None if item.disposition else rules.rule_for(item.path)
        judged = item if rule is None else msgspec.structs.replace(item, disposition=EXCLUDED, rule=rule)
        first.setdefault(item.key, (judged, by, parent))
    if per_host_max:
        first = _capped(tables, job, first, per_host_max)
    for key in sorted(first):
        if (job.id, key) not in tables.keys:
            _add_target(tables, job, *first[key])


def _capped(tables: Tables, job: Job, found: dict[bytes, FoundBy], most: int) -> dict[bytes, FoundBy]:
    """The same; what is new is left out where its host is full, in the order in which it was found."""
    mine = (row for row in tables.targets.values() if row.job == job.id and row.disposition != LIMIT)
    totals = Counter(row.found.host for row in mine)
    judged = dict(found)
    for key, (item, by, parent) in found.items():
        if item.disposition or (job.id, key) in tables.keys:
            continue
        if totals[item.host] >= most:
            judged[key] = (msgspec.structs.replace(item, disposition=LIMIT, rule=PER_HOST), by, parent)
        else:
            totals[item.host] += 1
    return judged


def _add_target(tables: Tables, job: Job, found: Found, by: Commit, parent: int | None) -> None:
    """One new target; with a disposition it is settled at once."""
    home, now = chunk_of(tables, job.id, "work", found.chunk_index), tables.at.wall_ms
    tables.ids_given += 1
    row = TargetState(
        id=tables.ids_given,
        job=job.id,
        chunk=home.id,
        phase=home.phase,
        generation=1,
        found=found,
        found_by=by,
        found_at=now,
        parent=parent,
    )
    if found.disposition:
        row = replace(
            row,
            state=State.SKIPPED,
            disposition=found.disposition,
            rule=found.rule or None,
            settled_by=by,
            settled_at=now,
            run=job.run,
        )
    tables.keys[job.id, found.key] = row.id
    put(tables, row, by[0])


def counts_of(tables: Tables, job: int) -> Counts:
    """The job's books, summed from the tallies of its chunks, each of which may be negative by itself."""
    total: Counter[str] = Counter()
    by_reason: dict[str, Counter[str]] = {"failed": Counter(), "skipped": Counter()}
    by_type: dict[str, Counter[str]] = {}
    for (chunk, type_, status, reason), n in tables.tallies.items():
        if tables.chunks[chunk].job != job:
            continue
        total[status] += n
        by_type.setdefault(type_, Counter())[status] += n
        if status in by_reason:
            by_reason[status][reason] += n
    return Counts(
        discovered=total.total(),
        failed_by={name: n for name, n in sorted(by_reason["failed"].items()) if n},
        skipped_by={name: n for name, n in sorted(by_reason["skipped"].items()) if n},
        by_type={type_: _seven(parts) for type_, parts in sorted(by_type.items())},
        **{status: total[status] for status in COUNTED},
    )


def _seven(parts: Counter[str]) -> dict[str, int]:
    return {"discovered": parts.total(), **{status: parts[status] for status in COUNTED}}


def checkpoints_of(tables: Tables, job: int) -> list[Checkpoint]:
    return [point for (owner, _), point in sorted(tables.checkpoints.items()) if owner == job]


def write_checkpoint(tables: Tables, job: int, reason: str) -> int:
    """A restore point as of this transaction, chained to its predecessor."""
    row, earlier = read_job(tables, job), checkpoints_of(tables, job)
    number = len(earlier) + 1
    tables.checkpoints[job, number] = Checkpoint(
        job=job,
        number=number,
        reason=reason,
        at=tables.at.wall_ms,
        run=row.run,
        phase=row.phase,
        generation=row.generation,
        cursor=tables.plans[job].cursor,
        commits={str(chunk.id): chunk.no for chunk in chunks_of(tables, job)},
        counts=counts_of(tables, job),
        active_ms=row.active_ms,
        previous=earlier[-1].checksum if earlier else b"",
        beside=_circumstances(tables, job),
    ).sealed()
    targets = {target: row for target, row in tables.targets.items() if row.job == job}
    tables.saved[job, number] = Saved(targets, frozenset(tables.bodies))
    return number


def _circumstances(tables: Tables, job: int) -> Circumstances:
    plan = tables.plans[job]
    return Circumstances(
        plan_done=plan.done,
        trail=plan.trail,
        mode=plan.mode,
        opening=plan.opening,
        exclusions=tuple(
            n
            for (owner, n), each in sorted(tables.exclusions.items(), key=lambda item: item[0])
            if owner == job and each.removed_at is None
        ),
        walks=tuple(
            StandingWalk(verb=row.verb, actor=row.actor, doc=row.doc)
            for _, row in sorted(tables.walks.items(), key=lambda item: item[0])
            if row.job == job
        ),
    )
