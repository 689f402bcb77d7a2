"""People's verbs on jobs, in memory: submit, move, request, amend, set aside, and the moves that end a job."""

from __future__ import annotations

import re
import secrets
from typing import Any

from msgspec.structs import replace

from holdfast.errors import BadParams, Corrupt, Refused
from holdfast.model.edit import Walk
from holdfast.model.job import BEING_WORKED, PHASES, REQUESTS, WORK_CHUNKS, Grown, Job, JobSpec, Options, Phases
from holdfast.model.lease import Lease
from holdfast.model.outcome import DEAD_END, REFRESHES
from holdfast.model.states import JOB, STATES_OF, State, move
from holdfast.policy import health, limits
from holdfast.policy.amending import amended
from holdfast.policy.growing import added_chunks
from holdfast.policy.phases import Ends, Opens, WorkLeft, following
from holdfast.policy.scope import has_scope, judge_of
from oracle.books import add_entry, add_event, chunk_of, chunks_of, counts_of, put, read_job
from oracle.books import write_checkpoint as checkpoint
from oracle.reopen import put_back, walking
from oracle.state import ChunkRow, PlanRow, RunRow, Tables, WalkRow

STOPS = ("disk_full", "blocked")  # pauses that say by themselves why the job stopped
MOVES = ("start", "resume")
OUTRANKED = ("time_out", "pause")  # a limit that was called is not softened to a pause
LAST_CHECKPOINT = {"page_limit": "limit", "time_limit": "timeout"}


def submit(tables: Tables, spec: JobSpec) -> tuple[Job, bool]:
    """Accept a job with its chunks and plan row, or find the one that has this identity."""
    for known in tables.jobs.values():
        if tables.owners[known.id] == spec.owner and known.identity == spec.identity:
            return known, False
    job = _new_job(tables, spec)
    tables.jobs[job.id], tables.owners[job.id] = job, spec.owner
    names = spec.chunks or ("",) * WORK_CHUNKS
    for kind in ("control", "plan"):
        _add_chunk(tables, job, kind, 0)
    for index, name in enumerate(names):
        _add_chunk(tables, job, "work", index, name)
    tables.plans[job.id] = PlanRow(chunk_of(tables, job.id, "plan").id)
    _tell(tables, job, "submit", "", job.status, actor="user", because=spec.recipe)
    return job, True


def _add_chunk(tables: Tables, job: Job, kind: str, index: int, name: str = "") -> None:
    chunk = ChunkRow(id=len(tables.chunks) + 1, job=job.id, kind=kind, index=index, phase=job.phase, name=name)
    tables.chunks[chunk.id] = replace(chunk, requested=job.requested)


def _new_job(tables: Tables, spec: JobSpec) -> Job:
    now = tables.at.wall_ms
    return Job(
        id=len(tables.jobs) + 1, uid=_free_uid(tables), name=_free_name(tables, spec), recipe=spec.recipe,
        identity=spec.identity, params=spec.params, options=spec.options, chunking=spec.chunking, status="pending",
        requested=None, paused_by=None, because="submitted, not started", stop_reason=None, health=None, version=1,
        phase=PHASES[0], generation=1, plan_done=False, planned_total=spec.planned_total, run=0, active_ms=0,
        created_at=now, since=now, started_at=None, paused_at=None, finished_at=None, last_error=None, recoveries=0,
        refetched=0,
    )  # fmt: skip


def _free_uid(tables: Tables) -> str:
    taken = {job.uid for job in tables.jobs.values()}
    for digits in (4, 4, 4, 6, 8, 12):
        uid = "J-" + secrets.token_hex(digits // 2)
        if uid not in taken:
            return uid
    raise Corrupt("no free job id was found")


def _names(tables: Tables, owner: str) -> set[str]:
    return {job.name for job in tables.jobs.values() if tables.owners[job.id] == owner}


def _free_name(tables: Tables, spec: JobSpec) -> str:
    taken, name, n = _names(tables, spec.owner), spec.name, 1
    while name in taken:
        n += 1
        name = f"{spec.name}-{n}"
    return name


def set_aside(tables: Tables, known: Job) -> tuple[Job, bool]:
    """Free a job's name and identity: it becomes NAME~N and keeps every row. False: somebody else did."""
    before = read_job(tables, known.id)
    if before.name != known.name:
        return before, False
    stem, taken, n = re.sub(r"~\d+$", "", before.name), _names(tables, tables.owners[known.id]), 1
    while f"{stem}~{n}" in taken:
        n += 1
    after = _change(tables, before, name=f"{stem}~{n}", identity=None)
    _tell(tables, after, "set_aside", before.status, after.status, actor="user", because="--new")
    return after, True


def move_job(tables: Tables, job: int, verb: str, *, actor: str, because: str, version: int | None) -> Job:
    """start or resume: the guarded move, and every chunk free of requests in the same transaction."""
    before = read_job(tables, job)
    step = move(JOB, before.status, verb)
    if verb not in MOVES:
        raise Refused(f"{verb} is asked for with request(), or done by a worker")
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    now = tables.at.wall_ms
    after = _change(
        tables,
        before,
        status=step.target,
        requested=None,
        paused_by=None,
        stop_reason=None,
        health=None,
        because=because,
        since=now,
        started_at=before.started_at or now,
        finished_at=None,
    )
    _request_of_chunks(tables, job, None)
    _tell(tables, after, verb, step.source, step.target, actor=actor, because=because)
    if step.source == "failed":
        _requeue_seeds(tables, job, actor)
    return after


def _requeue_seeds(tables: Tables, job: int, actor: str) -> None:
    """A failed job failed for its seeds: they are tried afresh, as a new generation that keeps the old attempts."""
    every = [row for row in tables.targets.values() if row.job == job]
    rows = [row for row in every if row.found.depth == 0 and row.state == State.FAILED]
    if rows:
        put_back(tables, job, "requeue", rows, actor=actor)


def request(tables: Tables, job: int, action: str, *, actor: str, because: str, paused_by: str) -> Job:
    """A durable wish on the job and on every chunk. It moves nothing; asking twice is asking once."""
    if action not in REQUESTS:
        raise BadParams(f"{action!r} cannot be requested; allowed: {', '.join(REQUESTS)}")
    before = read_job(tables, job)
    move(JOB, before.status, action)
    if before.requested in (action, "cancel") or (before.requested, action) == OUTRANKED:
        return before
    by = paused_by if action == "pause" else None
    after = _change(tables, before, requested=action, paused_by=by, because=because)
    _request_of_chunks(tables, job, action)
    _tell(tables, after, f"request_{action}", before.status, before.status, actor=actor, because=because)
    return after


def carry_out(tables: Tables, job: int) -> Job:
    """What was requested, now that nobody holds a chunk: paused (with a checkpoint) or cancelled."""
    before = read_job(tables, job)
    if before.requested == "time_out":
        _request_of_chunks(tables, job, None)
        tables.jobs[job] = replace(before, requested=None)
        return _end(tables, tables.jobs[job], health.Ending("time_out", "partial", before.because, "time_limit"))
    step = move(JOB, before.status, before.requested or "")
    now, paused = tables.at.wall_ms, step.target == "paused"
    after = _change(
        tables,
        before,
        status=step.target,
        requested=None,
        since=now,
        stop_reason=before.paused_by if before.paused_by in STOPS else None,
        paused_at=now if paused else None,
        finished_at=None if paused else now,
    )
    _request_of_chunks(tables, job, None)
    close_runs(tables, job, step.target, before.paused_by)
    _tell(tables, after, step.verb, step.source, step.target, actor="worker", because=before.because)
    if paused:
        checkpoint(tables, job, "pause")
    return after


def advance(
    tables: Tables,
    job: int,
    lease: Lease,
    phases: Phases,
    plan_failed: str = "",
    pages_max: int | None = None,
    stale: str = "",
) -> Job | None:
    """What follows a drained phase: another one, or the job's last move. After the end it answers the same again."""
    before = read_job(tables, job)
    if before.status in ("completed", "failed", "timeout"):
        return before
    chunk = tables.chunks.get(lease.chunk)
    if chunk is None or chunk.job != job or chunk.kind != "control" or not chunk.is_held_under(lease.epoch):
        return None
    if before.status != "in_progress" or before.requested is not None:
        return None
    counts = counts_of(tables, job)
    limit = limits.at_page_limit(counts.without(phases.made), pages_max)
    planned, walks = tables.plans[job].done or bool(plan_failed), walking(tables, job) is not None
    step = following(before.phase, phases, WorkLeft(planned, walks, _busy(tables, job), limit is not None))
    if step is None:
        ending = health.stale_ending(stale)
        if ending is None:
            return None
    else:
        seeds_failed = counts.succeeded == 0 and _only_seeds_failed(tables, job)
        pages = counts.without(phases.made)
        dead_end = _dead_end(tables, job, phases.made) if health.may_be_dead_end(pages, pages_max) else ""
        ending = health.verdict(counts, seeds_failed_only=seeds_failed, plan_failed=plan_failed, dead_end=dead_end)
        if isinstance(step, Ends) and step.limited and not plan_failed:
            ending = limit
        if isinstance(step, Opens) and (ending is None or ending.verb != "fail"):
            add_entry(tables, chunk.id, "advance")
            return _open(tables, before, step)
    assert ending is not None
    add_entry(tables, chunk.id, "finish")
    return _end(tables, before, ending)


def _busy(tables: Tables, job: int) -> tuple[str, ...]:
    """The phases with targets to do or in hand."""
    todo = (*STATES_OF["pending"], State.HELD)
    left = {phase for (owner, phase), plan in tables.phase_plans.items() if owner == job and not plan.done}
    return tuple(left | {row.phase for row in tables.targets.values() if row.job == job and row.state in todo})


def _open(tables: Tables, before: Job, step: Opens) -> Job:
    turn_to(tables, before, step, actor="worker")
    checkpoint(tables, before.id, "phase")
    return read_job(tables, before.id)


def turn_to(tables: Tables, before: Job, step: Opens, *, actor: str) -> None:
    job = before.id
    plan = tables.phase_plans[job, before.phase] = tables.plans[job]
    kept = tables.phase_plans.pop((job, step.phase), None)
    cursor, done, trail = (0, False, b"") if step.anew or kept is None else (kept.cursor, kept.done, kept.trail)
    tables.plans[job] = replace(plan, cursor=cursor, done=done, trail=trail)
    tables.jobs[job] = replace(before, phase=step.phase, plan_done=done)
    for each in chunks_of(tables, job):
        tables.chunks[each.id] = replace(tables.chunks[each.id], phase=step.phase)
    control = chunk_of(tables, job, "control").id
    add_event(tables, control, "phase", "advance", before.phase, step.phase, actor=actor, because="")


def _dead_end(tables: Tables, job: int, made: tuple[str, ...]) -> str:
    rows = [row for row in tables.targets.values() if row.job == job and row.state == State.SUCCEEDED]
    pages = [row for row in rows if row.found.type not in made]
    ends = sorted((row.rule, row.id) for row in pages if row.rule in (DEAD_END, REFRESHES))
    return (tables.targets[ends[0][1]].because or "") if len(ends) == len(pages) else ""


def _only_seeds_failed(tables: Tables, job: int) -> bool:
    """Seeds have depth 0, and so has what a seed redirects to."""
    failed = [row for row in tables.targets.values() if row.job == job and row.state == State.FAILED]
    return bool(failed) and all(row.found.depth == 0 for row in failed)


def _end(tables: Tables, before: Job, ending: health.Ending) -> Job:
    step, now = move(JOB, before.status, ending.verb), tables.at.wall_ms
    after = _change(
        tables,
        before,
        status=step.target,
        since=now,
        finished_at=now,
        because=ending.because,
        health=ending.health,
        stop_reason=ending.stop_reason,
        last_error=ending.because if ending.verb == "fail" else None,
    )
    close_runs(tables, before.id, step.target, ending.stop_reason, ending.health)
    _tell(tables, after, ending.verb, step.source, step.target, actor="worker", because=ending.because)
    checkpoint(tables, before.id, LAST_CHECKPOINT.get(ending.stop_reason or "", "final"))
    return after


def amend(
    tables: Tables, known: Job, options: Options | None, params: dict[str, Any] | None, *, actor: str, because: str
) -> Job:
    before = read_job(tables, known.id)
    after = amended(before, known, options, params)
    if after is before:
        return before
    after = _change(tables, after)
    _tell(tables, after, "amend", before.status, after.status, actor=actor, because=because)
    return after


def rescope(
    tables: Tables, known: Job, params: dict[str, Any], grown: Grown | None, *, actor: str, because: str
) -> Job:
    """The new params, and the walk that judges by them; what stands already is answered."""
    if grown is None or has_scope(params):
        judge_of(params)
    before = read_job(tables, known.id)
    if before.params == params:
        return before
    if before.status in ("completed", "cancelled"):
        raise Refused(f"{before.name} is {before.status}: nothing of it is pending")
    if any(chunk.owner is not None for chunk in chunks_of(tables, before.id)):
        raise Refused(f"{before.name} is being worked; pause it first: holdfast pause {before.word}")
    work = [chunk for chunk in chunks_of(tables, before.id) if chunk.kind == "work"]
    added = () if grown is None or not grown.chunks else added_chunks(before, [chunk.name for chunk in work], grown)
    after = amend(tables, known, None, params, actor=actor, because=because)
    if has_scope(params):
        tables.walks[max(tables.walks, default=0) + 1] = WalkRow(after.id, "rescope", actor, Walk())
    if grown is None:
        return after
    for name in added:
        _add_chunk(tables, after, "work", len(chunks_of(tables, after.id)) - 2, name)
    plan_done = after.plan_done and not added and not grown.more
    tables.plans[after.id] = replace(tables.plans[after.id], done=plan_done)
    tables.jobs[after.id] = replace(after, plan_done=plan_done, planned_total=grown.planned_total)
    return tables.jobs[after.id]


def open_run(tables: Tables, job: int, mode: str, trigger: str) -> int:
    """Begin a run; the first one after a rescan or a restart has the mode that was asked for then."""
    before, plan = read_job(tables, job), tables.plans[job]
    if before.status == "cancelled":
        return before.run
    close_runs(tables, job, "failed", "crash")
    mode = plan.opening or mode
    tables.plans[job] = replace(plan, opening=None)
    tables.jobs[job] = replace(before, run=before.run + 1, because=BEING_WORKED)
    tables.runs[job, before.run + 1] = RunRow(mode, trigger, tables.at.wall_ms)
    return before.run + 1


def close_runs(tables: Tables, job: int, status: str, stop_reason: str | None, health: str | None = None) -> None:
    now, counts = tables.at.wall_ms, counts_of(tables, job)
    for (owner, n), run in list(tables.runs.items()):
        if owner == job and run.ended_at is None:
            tables.runs[owner, n] = replace(
                run, status=status, ended_at=now, stop_reason=stop_reason, health=health, counts=counts
            )


def cancel_rest(tables: Tables, job: int, limit: int) -> int:
    """Cancel a slice of the pending targets of a cancelled job, as one numbered commit of its control chunk."""
    before = read_job(tables, job)
    if before.status != "cancelled":
        raise Refused(f"{before} is {before.status}, not cancelled")
    pending = STATES_OF["pending"]
    rows = [row for row in tables.targets.values() if row.job == job and row.state in pending][:limit]
    if not rows:
        return 0
    control = chunk_of(tables, job, "control").id
    by = (control, add_entry(tables, control, "cancel"))
    for row in rows:
        cancelled = replace(row, state=State.CANCELLED, not_before=None, settled_by=by, settled_at=tables.at.wall_ms)
        put(tables, cancelled, control)
    return len(rows)


def _change(tables: Tables, job: Job, **values: Any) -> Job:
    """A changed job row under its next version."""
    tables.jobs[job.id] = replace(job, version=job.version + 1, **values)
    return tables.jobs[job.id]


def _request_of_chunks(tables: Tables, job: int, action: str | None) -> None:
    for chunk in chunks_of(tables, job):
        tables.chunks[chunk.id] = replace(chunk, requested=action)


def _tell(tables: Tables, job: Job, verb: str, source: str, target: str, *, actor: str, because: str) -> None:
    control = chunk_of(tables, job.id, "control").id
    add_event(tables, control, "job", verb, source, target, actor=actor, because=because)
