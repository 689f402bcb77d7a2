"""Leasing in memory: who holds which chunk, and what is put back when a hold ends. A grant raises the epoch."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from holdfast.model.claim import Holding
from holdfast.model.job import Job
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.states import CHUNK, State, move
from holdfast.model.target import AttemptRow, Claimed
from holdfast.policy.recovery import rescue_target
from holdfast.ports import IsDead
from oracle.books import add_entry, add_event, chunks_of, put, read_job
from oracle.hosts import end_visits, host_row
from oracle.jobs import carry_out
from oracle.reads import record_before
from oracle.reopen import walking
from oracle.state import ChunkRow, Commit, Tables, TargetState


def lease(tables: Tables, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
    """Take control and plan where free, and up to `want` work chunks; put back what their last owners held."""
    before = read_job(tables, job)
    if before.status != "in_progress" or before.requested is not None or walking(tables, job, "rescope") is not None:
        return ()
    free = [chunk for chunk in chunks_of(tables, job) if chunk.owner is None or _is_free(tables, chunk, is_dead)]
    ours = [chunk for chunk in chunks_of(tables, job) if chunk.owner == owner and chunk not in free]
    open_to_us = [chunk for chunk in chunks_of(tables, job) if chunk in free or chunk in ours]
    work = [chunk for chunk in open_to_us if chunk.kind == "work"][: max(0, want)]
    taken = [chunk for chunk in open_to_us if chunk.kind != "work"] + work
    _rescue_all(tables, job, [chunk for chunk in taken if chunk in free and chunk.owner is not None], is_dead)
    # Asked before, and the answer was lost: what is ours is answered again.
    return tuple(chunk.lease() if chunk in ours else _grant(tables, chunk.id, owner, life_s) for chunk in taken)


def _is_free(tables: Tables, chunk: ChunkRow, is_dead: IsDead) -> bool:
    return chunk.owner is not None and (is_dead(chunk.owner) or is_lapsed(tables, chunk))


def is_lapsed(tables: Tables, chunk: ChunkRow) -> bool:
    """A deadline of another boot cannot be compared with this one's clock: that owner is gone."""
    other_boot = chunk.owner is not None and chunk.owner.boot != tables.at.boot
    return other_boot or chunk.until <= tables.at.lease_ms


def _grant(tables: Tables, chunk: int, owner: Owner, life_s: float) -> Lease:
    row = tables.chunks[chunk]
    step = move(CHUNK, "idle", "lease")
    tables.chunks[chunk] = replace(row, epoch=row.epoch + 1, owner=owner, until=_until(tables, life_s))
    add_entry(tables, chunk, "lease")
    add_event(tables, chunk, "chunk", "lease", step.source, step.target, actor=str(owner))
    return tables.chunks[chunk].lease()


def _until(tables: Tables, life_s: float) -> int:
    return tables.at.lease_ms + round(life_s * 1000)


def rescue(tables: Tables, job: int, *, is_dead: IsDead) -> Rescued:
    """Free what dead or lapsed owners hold; live owners keep theirs, however old."""
    read_job(tables, job)
    return _rescue_all(tables, job, [c for c in chunks_of(tables, job) if _is_free(tables, c, is_dead)], is_dead)


def _rescue_all(tables: Tables, job: int, chunks: Sequence[ChunkRow], is_dead: IsDead) -> Rescued:
    if not chunks:
        return Rescued()
    fates = [fate for chunk in chunks for fate in _rescue(tables, chunk, is_dead)]
    poisoned = fates.count(State.FAILED)
    before, back = tables.jobs[job], len(fates) - poisoned
    tables.jobs[job] = replace(before, recoveries=before.recoveries + 1, refetched=before.refetched + back)
    return Rescued(len(chunks), len(fates), poisoned)


def _rescue(tables: Tables, chunk: ChunkRow, is_dead: IsDead) -> list[State]:
    """Only a power cut (another boot) blames nobody; whoever fell silent may have been killed by what it had."""
    assert chunk.owner is not None
    dead = is_dead(chunk.owner)
    because = f"{chunk.owner} died" if dead else f"the lease of {chunk.owner} ran out"
    blamed = chunk.owner.boot == tables.at.boot
    return _end_hold(tables, chunk, "rescue", blamed=blamed, actor="rescuer", because=because)


def _end_hold(tables: Tables, chunk: ChunkRow, verb: str, *, blamed: bool, actor: str, because: str) -> list[State]:
    """Make a chunk idle and put back every target held in it, as one numbered commit; where each of them went."""
    step = move(CHUNK, "leased", verb)
    tables.chunks[chunk.id] = replace(tables.chunks[chunk.id], owner=None, until=0)
    end_visits(tables, chunk.id)
    by = (chunk.id, add_entry(tables, chunk.id, verb))
    add_event(tables, chunk.id, "chunk", verb, step.source, step.target, actor=actor, because=because)
    outcome = "lost" if verb == "rescue" else "handed_back"
    rows = held_in(tables, chunk.id)
    return [_put_back(tables, row, by, blamed, outcome, str(chunk.owner), because) for row in rows]


def held_in(tables: Tables, chunk: int) -> list[TargetState]:
    return [row for row in tables.targets.values() if row.chunk == chunk and row.state == State.HELD]


def _put_back(
    tables: Tables, row: TargetState, by: Commit, blamed: bool, outcome: str, worker: str, because: str
) -> State:
    ruling, now = rescue_target(alone=row.alone, deaths=row.deaths, blamed=blamed), tables.at.wall_ms
    code = "poison" if ruling.poison else None
    after = replace(
        row,
        state=ruling.state,
        attempts=row.attempts - ruling.refund,
        deaths=ruling.deaths,
        alone=False,
        held_epoch=None,
        code=code,
        because=because,
        settled_by=by if ruling.poison else None,
        settled_at=now if ruling.poison else None,
    )
    put(tables, after, by[0])
    tables.attempts[(*by, row.id)] = AttemptRow(
        target=row.id,
        n=row.attempts,
        worker=worker,
        began_at=row.tried_at,
        ended_at=now,
        outcome=outcome,
        code=code,
        status_code=None,
        message=because,
        bytes=0,
    )
    return ruling.state


def renew(tables: Tables, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
    """Prolong what is still ours under its epoch; whatever is missing from the answer is lost."""
    kept = [tables.chunks[item.chunk] for item in leases if _holds(tables, item)]
    for chunk in kept:
        tables.chunks[chunk.id] = replace(chunk, until=_until(tables, life_s))
    for job in {chunk.job for chunk in kept}:
        row = tables.jobs[job]
        tables.jobs[job] = replace(row, active_ms=row.active_ms + active_ms)
    return tuple(chunk.lease() for chunk in kept)


def _holds(tables: Tables, item: Lease) -> bool:
    return item.chunk in tables.chunks and tables.chunks[item.chunk].is_held_under(item.epoch)


def release(tables: Tables, leases: Sequence[Lease]) -> None:
    """Give chunks back. What is still held under them is handed back with its attempt."""
    for item in leases:
        if _holds(tables, item):
            chunk = tables.chunks[item.chunk]
            _end_hold(tables, chunk, "release", blamed=False, actor=str(chunk.owner), because="released")


def held(tables: Tables, leases: Sequence[Lease]) -> Holding:
    """Which leases still hold, with their numbers, and every target held under them."""
    current = [tables.chunks[item.chunk] for item in leases if _holds(tables, item)]
    rows = [row for chunk in current for row in held_in(tables, chunk.id)]
    claimed = [msgspec.structs.replace(claimed_from(tables, row), before=record_before(tables, row)) for row in rows]
    return Holding(tuple(chunk.lease() for chunk in current), tuple(claimed))


def claimed_from(tables: Tables, row: TargetState) -> Claimed:
    """A held target as its worker sees it."""
    found = row.found
    return Claimed(
        id=row.id,
        chunk=row.chunk,
        epoch=row.held_epoch or 0,
        key=found.key,
        url=row.url,
        host=found.host,
        type=found.type,
        depth=found.depth,
        parent=row.parent,
        hops=found.hops,
        attempts=row.attempts,
        generation=row.generation,
        alone=row.alone,
        name=found.name,
        params=found.params,
        delay_ms=host_row(tables, found.host).own_delay_ms,
    )


def acknowledge(tables: Tables, job: int, *, is_dead: IsDead) -> Job | None:
    """Carry out a requested pause or cancel when no live owner is left; dead ones are rescued on the way."""
    before = read_job(tables, job)
    if before.requested is None:
        return before
    rescue(tables, job, is_dead=is_dead)
    if any(chunk.owner is not None for chunk in chunks_of(tables, job)):
        return None
    return carry_out(tables, job)


def holders(tables: Tables, job: int) -> list[Holder]:
    return [
        Holder(chunk.id, chunk.kind, chunk.epoch, chunk.owner, is_lapsed(tables, chunk))
        for chunk in chunks_of(tables, job)
        if chunk.owner is not None
    ]
