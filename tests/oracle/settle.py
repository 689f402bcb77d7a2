"""Settling, enqueueing and claiming in memory: what happened together is stored together, fenced per chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.errors import Corrupt, LostLease
from holdfast.model.claim import SettleAnswer, Settled, Wish
from holdfast.model.job import FETCHING, Job
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch, PlanBatch, Verdict
from holdfast.model.states import STATES_OF, TARGET, State, move
from holdfast.model.target import AttemptRow, Claimed
from holdfast.policy.politeness import heard_of_host
from oracle.books import FoundBy, add_entry, add_found, counts_of, is_stored, put, read_job, rules_of, write_checkpoint
from oracle.exclude import leave_out
from oracle.hosts import BUSY_POLL_MS, host_row, is_full, turn_breaker
from oracle.leases import claimed_from
from oracle.reads import record_before
from oracle.state import ChunkRow, Commit, Tables, TargetState

STATE_AFTER = {
    "succeed": State.SUCCEEDED,
    "skip": State.SKIPPED,
    "fail": State.FAILED,
    "retry": State.WAITING,
    "hand_back": State.WAITING,
}
OUTCOMES = {
    "succeed": "succeeded",
    "skip": "skipped",
    "fail": "failed",
    "retry": "retry",
    "hand_back": "handed_back",
}


def settle(
    tables: Tables, job: int, batches: Sequence[Batch], wish: Wish | None, checkpoint: str | None, per_host_max: int = 0
) -> Settled:
    """Settle each chunk's batch by itself, then claim, then write the checkpoint; one answer per chunk."""
    row = read_job(tables, job)
    answers = {batch.chunk: _settle_batch(tables, row, batch) for batch in sorted(batches, key=lambda b: b.chunk)}
    stored = [batch for batch in sorted(batches, key=lambda b: b.chunk) if answers[batch.chunk].kind == "settled"]
    forbade = _turn_breakers(tables, stored)
    add_found(tables, row, [each for batch in stored for each in _found_in(batch)], per_host_max)
    claimed = [] if wish is None else _claim(tables, job, wish, answers)
    open_chunks = {item.chunk for item in wish.leases if answers[item.chunk].kind == "settled"} if wish else set()
    here = [each for each in tables.targets.values() if each.phase == row.phase]
    pending = [each for each in here if each.chunk in open_chunks and _is_pending(each)]
    claims = wish is not None and bool(wish.leases) and wish.room > 0
    return Settled(
        answers=answers,
        claimed=tuple(claimed),
        suspects=sum(each.state == State.SOLO for each in pending),
        next_due_ms=min((_due_in(tables, each, wish.per_host) for each in pending), default=None) if wish else None,
        checkpoint=write_checkpoint(tables, job, checkpoint) if checkpoint and stored else None,
        pages_left=_pages_left(tables, job, wish) if claims and wish is not None else None,
        forbade=forbade,
    )


def _answer(chunk: ChunkRow, kind: str) -> SettleAnswer:
    return SettleAnswer(kind, chunk.no, chunk.requested, chunk.phase)


def _settle_batch(tables: Tables, job: Job, batch: Batch) -> SettleAnswer:
    """Key first, epoch second: a stored batch whose reply was lost must not look like a lost lease."""
    chunk = _chunk(tables, job.id, batch.chunk)
    if is_stored(tables, batch.chunk, batch.epoch, batch.no, batch.digest):
        return _answer(chunk, "replayed")
    if not chunk.is_held_under(batch.epoch) or chunk.no != batch.no - 1:
        return SettleAnswer("lost")
    by = (chunk.id, add_entry(tables, chunk.id, "settle", batch.digest))
    for verdict in batch.verdicts:
        _settle_target(tables, job, batch, verdict, by)
    return _answer(tables.chunks[chunk.id], "settled")


def _turn_breakers(tables: Tables, batches: Sequence[Batch]) -> dict[str, int]:
    """The hosts that answered 403 last, with how many times in a row."""
    heard: dict[str, list[str]] = {}
    for verdict in (verdict for batch in batches for verdict in batch.verdicts):
        word = heard_of_host(verdict)
        if word is not None and tables.targets[verdict.target].found.host:
            heard.setdefault(tables.targets[verdict.target].found.host, []).append(word)
    turned = {host: turn_breaker(tables, host, words) for host, words in heard.items()}
    return {host: forbade for host, forbade in turned.items() if forbade}


def _chunk(tables: Tables, job: int, chunk: int) -> ChunkRow:
    row = tables.chunks.get(chunk)
    if row is None or row.job != job:
        raise Corrupt(f"job {job} has no chunk {chunk}")
    return row


def _settle_target(tables: Tables, job: Job, batch: Batch, verdict: Verdict, by: Commit) -> None:
    row = tables.targets.get(verdict.target)
    if row is None or row.state != State.HELD or (row.chunk, row.held_epoch) != (batch.chunk, batch.epoch):
        raise Corrupt(f"target {verdict.target} is not held by chunk {batch.chunk} under epoch {batch.epoch}")
    if verdict.move not in STATE_AFTER:
        raise Corrupt(f"{verdict.move!r} is no verdict")
    put(tables, _after(tables, job, row, verdict, by), by[0])
    tables.attempts[(*by, row.id)] = AttemptRow(
        target=row.id,
        n=row.attempts,
        worker=batch.worker,
        began_at=verdict.began_at,
        ended_at=verdict.ended_at,
        outcome=OUTCOMES[verdict.move],
        code=verdict.code or None,
        status_code=verdict.status_code,
        message=verdict.because or None,
        bytes=verdict.bytes,
    )
    _store_results(tables, job, row, verdict, by)


def _after(tables: Tables, job: Job, row: TargetState, verdict: Verdict, by: Commit) -> TargetState:
    """The target as the verdict leaves it."""
    settled = move(TARGET, "in_progress", verdict.move).target != "pending"
    state = STATE_AFTER[verdict.move]
    waits = state == State.WAITING and verdict.wait_ms is not None
    if state == State.WAITING and not waits:
        state = State.READY
    return replace(
        row,
        state=state,
        disposition=verdict.disposition or None,
        rule=verdict.rule or None,
        code=verdict.code or None,
        because=verdict.because or None,
        not_before=tables.at.wall_ms + (verdict.wait_ms or 0) if waits else None,
        attempts=row.attempts - (verdict.move == "hand_back"),
        alone=False,
        held_epoch=None,
        settled_by=by if settled else None,
        settled_at=tables.at.wall_ms if settled else None,
        run=job.run if settled else row.run,
    )


def _found_in(batch: Batch) -> list[FoundBy]:
    by = (batch.chunk, batch.no)
    return [(found, by, verdict.target) for verdict in batch.verdicts for found in verdict.found]


def _store_results(tables: Tables, job: Job, row: TargetState, verdict: Verdict, by: Commit) -> None:
    if verdict.body is not None:
        tables.bodies[row.id, row.generation] = verdict.body
    for n, artifact in enumerate(verdict.artifacts):
        tables.artifacts[row.id, row.generation, n] = artifact
        tables.artifact_by[row.id, row.generation, n] = by
    for n, record in enumerate(verdict.records):
        tables.records[row.id, row.generation, n] = record
        tables.record_runs[row.id, row.generation, n] = job.run
        tables.record_by[row.id, row.generation, n] = by
        tables.record_run[row.id, row.generation, n] = job.run
    for external in verdict.external:
        tables.external.setdefault((job.id, external.key), external)
        tables.external_by.setdefault((job.id, external.key), by)
        tables.external_from.setdefault((job.id, external.key), row.id)
    if verdict.hold_host_ms:
        host = host_row(tables, row.found.host)
        until = max(host.hold_until, tables.at.wall_ms + verdict.hold_host_ms)
        tables.hosts[row.found.host] = replace(host, hold_until=until)


def enqueue(tables: Tables, job: int, batch: PlanBatch) -> Lease:
    """Planned targets with their cursor. Repeated under its number, it answers the lease and stores nothing."""
    row, chunk = read_job(tables, job), _chunk(tables, job, batch.chunk)
    if is_stored(tables, batch.chunk, batch.epoch, batch.no, batch.digest):
        return chunk.lease()
    if not chunk.is_held_under(batch.epoch) or chunk.no != batch.no - 1:
        raise LostLease(f"the plan of {row} is held by another worker now")
    plan = tables.plans[job]
    if (plan.chunk, plan.cursor, plan.done) != (batch.chunk, batch.cursor, False):
        raise Corrupt(f"the plan of {row} stands at {plan.cursor}, done: {plan.done}, not at {batch.cursor}")
    by = (batch.chunk, add_entry(tables, batch.chunk, "plan", batch.digest))
    tables.plans[job] = replace(plan, cursor=batch.next_cursor, done=batch.done, trail=batch.trail)
    tables.jobs[job] = replace(row, plan_done=batch.done)
    add_found(tables, row, [(found, by, None) for found in batch.found])
    return tables.chunks[batch.chunk].lease()


def _claim(tables: Tables, job: int, wish: Wish, answers: dict[int, SettleAnswer]) -> list[Claimed]:
    """Claim as wished, and complete `answers` for chunks that had no batch."""
    had_batch = set(answers)
    for item in wish.leases:
        if item.chunk not in had_batch:
            chunk = _chunk(tables, job, item.chunk)
            answers[item.chunk] = _answer(chunk, "settled") if chunk.is_held_under(item.epoch) else SettleAnswer("lost")
    claimed: list[Claimed] = []
    room = min(1, wish.room) if wish.alone else wish.room
    left = _pages_left(tables, job, wish)
    if left is not None:
        room = max(0, min(room, left))
    rules, numbered = rules_of(tables, job), set(had_batch)
    for row in _candidates(tables, wish, answers):
        if len(claimed) == room:
            break
        if _due_in(tables, row, wish.per_host) != 0:
            continue
        if row.chunk not in numbered:
            numbered.add(row.chunk)
            add_entry(tables, row.chunk, "claim")
        rule = rules.rule_for(row.found.path)
        if rule is None:
            claimed.append(_hold(tables, row, wish))
        else:
            leave_out(tables, row, (row.chunk, tables.chunks[row.chunk].no), rule, actor="worker")
    for chunk_id in numbered - had_batch:
        answers[chunk_id] = _answer(tables.chunks[chunk_id], "settled")
    return claimed


def _pages_left(tables: Tables, job: int, wish: Wish) -> int | None:
    """What a page limit leaves, which counts targets that are in somebody's hands or came to an end; None: any number,
    as in every phase but the first."""
    if wish.pages_max is None or read_job(tables, job).phase != FETCHING:
        return None
    counts = counts_of(tables, job).without(wish.made)
    return wish.pages_max - counts.succeeded - counts.failed - counts.in_progress


def _candidates(tables: Tables, wish: Wish, answers: dict[int, SettleAnswer]) -> Iterator[TargetState]:
    """What may be claimed if its host lets it: chunk by chunk in claim order, or all suspects in theirs."""
    chunks = [a.chunk for a in wish.leases if answers[a.chunk].kind == "settled" and not answers[a.chunk].requested]
    wanted = (State.SOLO,) if wish.alone else (State.READY, State.WAITING)
    rows = [row for row in tables.targets.values() if row.chunk in chunks and row.state in wanted]
    lawful = [row for row in rows if row.phase == tables.chunks[row.chunk].phase]
    if wish.in_levels and not wish.alone:
        level = min(_open_ranks(tables, [lease.job for lease in wish.leases]), default=0)
        lawful = [row for row in lawful if row.found.rank <= level]
    if wish.alone:
        return iter(sorted(lawful, key=lambda row: (row.deaths, row.tried_at, row.id)))
    return iter(sorted(lawful, key=lambda row: (chunks.index(row.chunk), row.found.rank, row.id)))


def _open_ranks(tables: Tables, jobs: list[int]) -> list[int]:
    """Ranks of whatever is not settled in these jobs, held targets included."""
    chunks = {chunk.id for chunk in tables.chunks.values() if chunk.job in jobs}
    rows = [row for row in tables.targets.values() if row.chunk in chunks]
    return [row.found.rank for row in rows if _is_pending(row) or row.state == State.HELD]


def _hold(tables: Tables, row: TargetState, wish: Wish) -> Claimed:
    """Spend an attempt and put the target into the worker's hands."""
    now, chunk = tables.at.wall_ms, tables.chunks[row.chunk]
    after = replace(
        row,
        state=State.HELD,
        attempts=row.attempts + 1,
        held_epoch=chunk.epoch,
        tried_at=now,
        alone=wish.alone,
        not_before=None,
        because=None,
    )
    put(tables, after, chunk.id)
    if row.found.host:
        host = host_row(tables, row.found.host)
        tables.hosts[row.found.host] = replace(host, next_at=now + max(wish.delay_ms, host.own_delay_ms))
    claimed = claimed_from(tables, after)
    return msgspec.structs.replace(claimed, before=record_before(tables, after)) if wish.compared else claimed


def _is_pending(row: TargetState) -> bool:
    return row.state in STATES_OF["pending"]


def _due_in(tables: Tables, row: TargetState, per_host: int) -> int:
    """Milliseconds until this pending target could be claimed; 0: now."""
    at = max(host_row(tables, row.found.host).ready_at, row.not_before or 0)
    wait = max(0, at - tables.at.wall_ms)
    return max(wait, BUSY_POLL_MS) if row.found.host and is_full(tables, row.found.host, per_host) else wait
