"""Opening a job again, in memory: retry, rescan, restart, and the walks that put targets back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from holdfast.errors import BadParams, Refused
from holdfast.model.edit import EXCLUDED, MODES, REOPENING, ROBOTS, RULE, STORED, Walk, Walked
from holdfast.model.job import FETCHING, Job
from holdfast.model.states import JOB, STATES_OF, Move, State, move
from holdfast.policy.filters import Condition, matches, resolved
from holdfast.policy.phases import Opens
from oracle.books import add_entry, add_event, chunk_of, chunks_of, put, read_job
from oracle.exclude import readmit
from oracle.reads import row_of
from oracle.rescope import rejudge
from oracle.state import Tables, TargetState, UndoRow, WalkRow


def reopen(
    tables: Tables,
    job: int,
    verb: str,
    *,
    where: Sequence[Condition],
    mode: str,
    actor: str,
    because: str,
    version: int | None,
) -> Job:
    """The guarded move with its event, and the walk that puts targets back; nothing is put back yet."""
    if verb not in REOPENING or mode not in (*MODES, STORED):
        raise BadParams(f"{verb!r} in mode {mode!r} opens no job again")
    before = read_job(tables, job)
    step = move(JOB, before.status, verb)
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    after = _set_out(tables, before, step, because)
    if verb != "retry":
        after = replace(after, generation=after.generation + 1)
        tables.plans[job] = replace(tables.plans[job], mode=mode, opening=mode)
    elif tables.plans[job].mode == STORED:
        tables.plans[job] = replace(tables.plans[job], mode="full")  # a retry fetches
    tables.jobs[job] = after
    control = chunk_of(tables, job, "control").id
    add_event(tables, control, "job", verb, step.source, step.target, actor=actor, because=because)
    if verb != "retry" and before.phase != FETCHING:
        from oracle.jobs import turn_to

        turn_to(tables, after, Opens(FETCHING, anew=False), actor=actor)
        after = tables.jobs[job]
    commits = {str(chunk.id): chunk.no for chunk in chunks_of(tables, job)}
    doc = Walk(where=tuple(resolved(where, tables.at.wall_ms)), commits=commits)
    tables.walks[max(tables.walks, default=0) + 1] = WalkRow(job, verb, actor, doc)
    return after


def _set_out(tables: Tables, before: Job, step: Move, because: str) -> Job:
    """What the last end or pause said of the job is no longer so."""
    after = replace(before, version=before.version + 1)
    if step.source == step.target:
        return after
    return replace(
        after, status=step.target, requested=None, paused_by=None, stop_reason=None, health=None, because=because,
        since=tables.at.wall_ms, paused_at=None, finished_at=None, last_error=None,
    )  # fmt: skip


def repair(tables: Tables, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
    """Succeeded targets whose bytes are gone go back to pending, with the reason; how many there were."""
    before = read_job(tables, job)
    wanted = [tables.targets[each] for each in sorted(set(targets)) if each in tables.targets]
    rows = [row for row in wanted if row.job == job and row.state == State.SUCCEEDED]
    if not rows:
        return 0
    if before.status != "in_progress":
        step = move(JOB, before.status, "retry")
        tables.jobs[job] = _set_out(tables, before, step, because)
        control = chunk_of(tables, job, "control").id
        add_event(tables, control, "job", "retry", step.source, step.target, actor=actor, because=because)
    put_back(tables, job, "mend", rows, actor=actor)
    for row in rows:
        tables.targets[row.id] = replace(tables.targets[row.id], because=because)
    return len(rows)


def walk(tables: Tables, job: int, verb: str | None, limit: int) -> Walked:
    """The next slice of the oldest walk (of this verb): puts back what fits, moves the cursor, ends the walk."""
    before = read_job(tables, job)
    standing = _standing(tables, job, verb)
    if not standing:
        return Walked()
    if before.status in ("completed", "cancelled"):
        tables.walks = {n: row for n, row in tables.walks.items() if row.job != job}
        return Walked()
    number = standing[0]
    row = tables.walks[number]
    looked_at = _looked_at(tables, row, limit)
    done = _put_back(tables, row, looked_at)
    if len(looked_at) < limit:
        del tables.walks[number]
    else:
        tables.walks[number] = replace(row, cursor=looked_at[-1].id)
    return msgspec.structs.replace(done, left=bool(_standing(tables, job, verb)))


def _put_back(tables: Tables, row: WalkRow, looked_at: list[TargetState]) -> Walked:
    if row.verb == "rescope":
        return rejudge(tables, row.job, looked_at, actor=row.actor)
    if row.verb == "include":
        return Walked(readmit(tables, row.job, row.doc.exclusion, looked_at, actor=row.actor))
    rows = [each for each in looked_at if _is_meant(tables, row, each)]
    tried = [each for each in looked_at if row.verb == "restart" and _was_tried(tables, row, each)]
    if rows:
        put_back(tables, row.job, row.verb, rows, actor=row.actor)
    if tried:
        put_back(tables, row.job, row.verb, tried, actor=row.actor)
    return Walked(len(rows))


def _was_tried(tables: Tables, row: WalkRow, target: TargetState) -> bool:
    """Pending after a try: from the beginning means with every attempt. What was tried since is not meant."""
    tries = [(chunk, no) for chunk, no, owner in tables.attempts if owner == target.id]
    is_pending = target.state in STATES_OF["pending"] and target.attempts > 0
    return is_pending and all(row.doc.covers(*commit) for commit in tries)


def walking(tables: Tables, job: int, verb: str | None = None) -> str | None:
    standing = _standing(tables, job, verb)
    return tables.walks[standing[0]].verb if standing else None


def _standing(tables: Tables, job: int, verb: str | None) -> list[int]:
    return [n for n, row in sorted(tables.walks.items()) if row.job == job and verb in (None, row.verb)]


def _looked_at(tables: Tables, row: WalkRow, limit: int) -> list[TargetState]:
    behind = [each for each in tables.targets.values() if each.job == row.job and each.id > row.cursor]
    return [each for each in behind if row.verb != "retry" or each.state == State.FAILED][:limit]


def _is_meant(tables: Tables, row: WalkRow, target: TargetState) -> bool:
    """Settled when the walk began, and fetched then: what was left out when it was found is not tried."""
    wanted = (State.FAILED,) if row.verb == "retry" else (State.SUCCEEDED, State.FAILED, State.SKIPPED)
    if target.settled_by is None or target.state not in wanted or not row.doc.covers(*target.settled_by):
        return False
    if target.state == State.SKIPPED and not _may_be_fetched(tables, target):
        return False
    return matches(row_of(tables, target), row.doc.where)


def _may_be_fetched(tables: Tables, target: TargetState) -> bool:
    """A skipped target: it was fetched, or forbidden by a robots.txt, or an exclusion left it out that has ended."""
    if target.rule is not None and target.rule.startswith(RULE):
        generation = tables.jobs[target.job].generation
        rules = {each.rule: each for (job, _), each in tables.exclusions.items() if job == target.job}
        return not rules[target.rule].is_active(generation)
    tried = any(attempt.target == target.id for attempt in tables.attempts.values())
    return target.disposition == ROBOTS or (tried and target.disposition != EXCLUDED)


def put_back(tables: Tables, job: int, verb: str, rows: Sequence[TargetState], *, actor: str) -> None:
    """Targets as one numbered commit of the control chunk: pending again, as a new generation."""
    control = chunk_of(tables, job, "control").id
    no = add_entry(tables, control, verb)
    for row in rows:
        tables.undo[row.id, control, no] = UndoRow(verb, actor, row)
        fresh = replace(
            row, state=State.READY, generation=row.generation + 1, attempts=0, deaths=0, disposition=None, code=None,
            rule=None, because=None, not_before=None, settled_by=None, settled_at=None,
        )  # fmt: skip
        put(tables, fresh, control)
