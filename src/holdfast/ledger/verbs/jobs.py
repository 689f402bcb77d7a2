"""People's verbs on jobs: submit, move, request, amend, set aside. The only writer of a job's status.

Lock order everywhere: the job's turn (for a checkpoint, or a claim under a page limit), job row, chunk rows by id,
targets by key, lanes by id, hosts by id. A claim skips other rows that are locked instead of waiting for them.
"""

from __future__ import annotations

import re
import secrets
from typing import Any

import msgspec

from holdfast.errors import BadParams, Corrupt, NotFound, Refused
from holdfast.ledger.books import add_entry, add_event, count, counts_of, write_checkpoint, write_tallies
from holdfast.ledger.tx import Row, Tx, one
from holdfast.ledger.verbs.undo import IMAGED, put_back
from holdfast.model.job import BEING_WORKED, PHASES, REQUESTS, WORK_CHUNKS, Job, JobSpec, Options
from holdfast.model.states import JOB, State, move
from holdfast.policy.amending import amended

MOVED_BY_USER = ("start", "resume")
LAST_CHECKPOINT = {"page_limit": "limit", "time_limit": "timeout"}
OUTRANKED = ("time_out", "pause")  # a limit that was called is not softened to a pause
JOB_COLUMNS = (
    "id, uid, name, recipe, identity, params, options, chunking, status, requested, paused_by, because, stop_reason, "
    "health, version, phase, gen, plan_done, planned_total, run, active_ms, created_at, since, started_at, paused_at, "
    "finished_at, last_error, recoveries, refetched"
)


def job_from(row: Row) -> Job:
    """A job row as a value."""
    values = dict(zip(JOB_COLUMNS.split(", "), row, strict=True))
    values["generation"] = values.pop("gen")
    try:
        values["params"] = msgspec.json.decode(values["params"])
        values["options"] = msgspec.json.decode(values["options"], type=Options)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"the row of {values['name']} cannot be read: {error}") from error
    values["plan_done"] = bool(values["plan_done"])
    return Job(**values)


def read_job(tx: Tx, job: int, *, locked: bool = False) -> Job:
    row = one(tx, f"SELECT {JOB_COLUMNS} FROM job WHERE id = ? {tx.lock('job') if locked else ''}", (job,))
    if row is None:
        raise NotFound(f"there is no job {job}")
    return job_from(row)


def control_chunk(tx: Tx, job: int) -> int:
    row = one(tx, "SELECT id FROM chunk WHERE job = ? AND kind = 'control'", (job,))
    if row is None:
        raise Corrupt(f"job {job} has no control chunk")
    return int(row[0])


def submit(tx: Tx, spec: JobSpec) -> tuple[Job, bool]:
    """Accept a job with its chunks and plan row, or find the one that has this identity."""
    while True:
        found = one(tx, "SELECT id FROM job WHERE owner = ? AND identity = ?", (spec.owner, spec.identity))
        if found is not None:
            return read_job(tx, found[0]), False
        job = _insert_job(tx, spec)
        if job is not None:
            return _furnished(tx, job, spec), True


def _insert_job(tx: Tx, spec: JobSpec) -> int | None:
    """The new job's id; None if another process took its name, id or identity at this moment."""
    now = tx.wall()
    name = _free_name(tx, spec.owner, spec.name)
    row = one(
        tx,
        "INSERT INTO job (uid, owner, name, recipe, identity, params, options, chunking, status, because, version, "
        "phase, gen, plan_done, planned_total, run, active_ms, created_at, since, recoveries, refetched) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, 1, ?, 1, 0, ?, 0, 0, ?, ?, 0, 0) "
        "ON CONFLICT DO NOTHING RETURNING id",
        (
            _free_uid(tx), spec.owner, name, spec.recipe, spec.identity, _json(spec.params), _json(spec.options),
            spec.chunking, "submitted, not started", PHASES[0], spec.planned_total, now, now,
        ),
    )  # fmt: skip
    return None if row is None else int(row[0])


def _furnished(tx: Tx, job: int, spec: JobSpec) -> Job:
    """Its chunks, its plan row, and the first line of its history."""
    names = spec.chunks or ("",) * WORK_CHUNKS
    chunks = [("control", 0, ""), ("plan", 0, ""), *(("work", index, name) for index, name in enumerate(names))]
    tx.many(
        "INSERT INTO chunk (job, kind, idx, name, epoch, no, at, seq, phase) VALUES (?, ?, ?, ?, 0, 0, 0, 0, ?)",
        [(job, *chunk, PHASES[0]) for chunk in chunks],
    )
    tx.run(
        "INSERT INTO plan (job, chunk, cursor, done) SELECT job, id, 0, 0 FROM chunk WHERE job = ? AND kind = 'plan'",
        (job,),
    )
    add_event(tx, control_chunk(tx, job), "job", "submit", "", "pending", actor="user", because=spec.recipe)
    return read_job(tx, job)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _free_uid(tx: Tx) -> str:
    """Four hex digits while they last; a clash makes the id longer, never the job another's."""
    for digits in (4, 4, 4, 6, 8, 12):
        uid = "J-" + secrets.token_hex(digits // 2)
        if one(tx, "SELECT 1 FROM job WHERE uid = ?", (uid,)) is None:
            return uid
    raise Corrupt("no free job id was found")


def _free_name(tx: Tx, owner: str, wanted: str) -> str:
    name, n = wanted, 1
    while one(tx, "SELECT 1 FROM job WHERE owner = ? AND name = ?", (owner, name)) is not None:
        n += 1
        name = f"{wanted}-{n}"
    return name


def set_aside(tx: Tx, known: Job, because: str = "--new") -> tuple[Job, bool]:
    """Free a job's name and identity: it becomes NAME~N and keeps every row. False: another process did."""
    job, before = known.id, read_job(tx, known.id, locked=True)
    if before.name != known.name:
        return before, False
    stem = re.sub(r"~\d+$", "", before.name)
    taken = {name for (name,) in tx.rows("SELECT name FROM job WHERE name LIKE ?", (stem + "~%",))}
    n = 1
    while f"{stem}~{n}" in taken:
        n += 1
    tx.run("UPDATE job SET name = ?, identity = NULL, version = version + 1 WHERE id = ?", (f"{stem}~{n}", job))
    add_event(
        tx, control_chunk(tx, job), "job", "set_aside", before.status, before.status, actor="user", because=because
    )
    return read_job(tx, job), True


def move_job(tx: Tx, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
    """start or resume: the guarded move, and the chunks claimable again in the same transaction."""
    before = read_job(tx, job, locked=True)
    step = move(JOB, before.status, verb)
    if verb not in MOVED_BY_USER:
        raise Refused(f"{verb} is asked for with request(), or done by a worker")
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    now = tx.wall()
    tx.run(
        "UPDATE job SET status = ?, requested = NULL, paused_by = NULL, stop_reason = NULL, health = NULL, "
        "because = ?, since = ?, "
        "version = version + 1, started_at = coalesce(started_at, ?), finished_at = NULL WHERE id = ?",
        (step.target, because, now, now, job),
    )
    tx.run("UPDATE chunk SET requested = NULL WHERE job = ?", (job,))
    add_event(tx, control_chunk(tx, job), "job", verb, step.source, step.target, actor=actor, because=because)
    if step.source == "failed":
        _requeue_seeds(tx, job, actor)
    return read_job(tx, job)


def _requeue_seeds(tx: Tx, job: int, actor: str) -> None:
    """A failed job failed for its seeds: they are tried afresh, as a new generation that keeps the old attempts."""
    rows = tx.rows(f"SELECT {IMAGED} FROM target t WHERE t.job = ? AND t.depth = 0 AND t.state = 6", (job,))
    if rows:
        put_back(tx, next_number(tx, control_chunk(tx, job)), "requeue", rows, actor=actor)


def request(tx: Tx, job: int, action: str, *, actor: str, because: str, paused_by: str) -> Job:
    """A durable wish. Writing it to every chunk row waits for running settles, so no claim commits after it."""
    if action not in REQUESTS:
        raise BadParams(f"{action!r} cannot be requested; allowed: {', '.join(REQUESTS)}")
    before = read_job(tx, job, locked=True)
    move(JOB, before.status, action)
    if before.requested == action or before.requested == "cancel" or (before.requested, action) == OUTRANKED:
        return before
    tx.run(
        "UPDATE job SET requested = ?, paused_by = ?, because = ?, version = version + 1 WHERE id = ?",
        (action, paused_by if action == "pause" else None, because, job),
    )
    for (chunk,) in tx.rows(f"SELECT id FROM chunk WHERE job = ? ORDER BY id {tx.lock('chunk')}", (job,)):
        tx.run("UPDATE chunk SET requested = ? WHERE id = ?", (action, chunk))
    add_event(
        tx, control_chunk(tx, job), "job", f"request_{action}", before.status, before.status,
        actor=actor, because=because,
    )  # fmt: skip
    return read_job(tx, job)


def carry_out_request(tx: Tx, before: Job) -> Job:
    """The move that a request asked for, once no worker holds a chunk: paused or timed out (with a checkpoint), or
    cancelled."""
    assert before.requested is not None
    if before.requested == "time_out":
        tx.run("UPDATE job SET requested = NULL WHERE id = ?", (before.id,))
        tx.run("UPDATE chunk SET requested = NULL WHERE job = ?", (before.id,))
        return end_job(tx, before, "time_out", health="partial", because=before.because, stop_reason="time_limit")
    step = move(JOB, before.status, before.requested)
    now = tx.wall()
    paused = step.target == "paused"
    tx.run(
        "UPDATE job SET status = ?, requested = NULL, since = ?, version = version + 1, stop_reason = ?, "
        "paused_at = ?, finished_at = ? WHERE id = ?",
        (
            step.target, now, before.paused_by if paused and before.paused_by in ("disk_full", "blocked") else None,
            now if paused else None, None if paused else now, before.id,
        ),
    )  # fmt: skip
    tx.run("UPDATE chunk SET requested = NULL WHERE job = ?", (before.id,))
    close_runs(tx, before.id, step.target, before.paused_by)
    control = control_chunk(tx, before.id)
    add_event(tx, control, "job", step.verb, step.source, step.target, actor="worker", because=before.because)
    if paused:
        write_checkpoint(tx, before.id, "pause")
    return read_job(tx, before.id)


def end_job(tx: Tx, before: Job, verb: str, *, health: str | None, because: str, stop_reason: str | None) -> Job:
    """complete, fail or time out: the last checkpoint, then the word."""
    step = move(JOB, before.status, verb)
    tx.run(
        "UPDATE job SET status = ?, since = ?, finished_at = ?, version = version + 1, because = ?, health = ?, "
        "stop_reason = ?, last_error = ? WHERE id = ?",
        (
            step.target, tx.wall(), tx.wall(), because, health, stop_reason,
            because if verb == "fail" else None, before.id,
        ),
    )  # fmt: skip
    close_runs(tx, before.id, step.target, stop_reason, health)
    control = control_chunk(tx, before.id)
    add_event(tx, control, "job", verb, step.source, step.target, actor="worker", because=because)
    write_checkpoint(tx, before.id, LAST_CHECKPOINT.get(stop_reason or "", "final"))
    return read_job(tx, before.id)


def amend(
    tx: Tx, known: Job, options: Options | None, params: dict[str, Any] | None, *, actor: str, because: str
) -> Job:
    """Changed options or params, compared under the row's lock with what the caller had read."""
    before = read_job(tx, known.id, locked=True)
    after = amended(before, known, options, params)
    if after is not before:
        tx.run(
            "UPDATE job SET options = ?, params = ?, version = version + 1 WHERE id = ?",
            (_json(after.options), _json(after.params), before.id),
        )
        control = control_chunk(tx, before.id)
        add_event(tx, control, "job", "amend", before.status, before.status, actor=actor, because=because)
    return read_job(tx, before.id)


def open_run(tx: Tx, job: int, mode: str, trigger: str) -> int:
    """Begin a run; the first one after a rescan or a restart has the mode that was asked for then.

    A job may have been cancelled between a lease and this (`cancel --now`): it has no more runs.
    """
    before = read_job(tx, job, locked=True)
    if before.status == "cancelled":
        return before.run
    close_runs(tx, job, "failed", "crash")
    tx.run("DELETE FROM host_total WHERE job = ?", (job,))
    asked = one(tx, "SELECT opening FROM plan WHERE job = ?", (job,))
    if asked is not None and asked[0] is not None:
        mode = asked[0]
        tx.run("UPDATE plan SET opening = NULL WHERE job = ?", (job,))
    row = one(tx, "UPDATE job SET run = run + 1, because = ? WHERE id = ? RETURNING run", (BEING_WORKED, job))
    assert row is not None
    tx.run(
        "INSERT INTO run (job, n, mode, trigger, started_at, status) VALUES (?, ?, ?, ?, ?, 'in_progress')",
        (job, row[0], mode, trigger, tx.wall()),
    )
    return int(row[0])


def close_runs(tx: Tx, job: int, status: str, stop_reason: str | None, health: str | None = None) -> None:
    """What is open ends so, with the books of this moment; they come from the tallies, whatever the job's size."""
    if one(tx, "SELECT 1 FROM run WHERE job = ? AND ended_at IS NULL LIMIT 1", (job,)) is None:
        return
    write_tallies(tx)
    tx.run(
        "UPDATE run SET ended_at = ?, status = ?, stop_reason = ?, health = ?, doc = ? "
        "WHERE job = ? AND ended_at IS NULL",
        (tx.wall(), status, stop_reason, health, msgspec.json.encode(counts_of(tx, job)), job),
    )


def cancel_rest(tx: Tx, job: int, limit: int) -> int:
    """Cancel a slice of the pending targets of a cancelled job, as one numbered commit of its control chunk."""
    before = read_job(tx, job, locked=True)
    if before.status != "cancelled":
        raise Refused(f"{before} is {before.status}, not cancelled")
    rows = _pending(tx, job, limit)
    if not rows:
        return 0
    control, no, epoch = next_number(tx, control_chunk(tx, job))
    add_entry(tx, control, no, epoch, "cancel", n=len(rows))
    tx.many(
        "UPDATE target SET state = ?, not_before = NULL, done_chunk = ?, done_no = ? WHERE id = ?",
        [(int(State.CANCELLED), control, no, target) for target, _, _ in rows],
    )
    tx.many("UPDATE lane SET todo = todo - 1 WHERE id = ?", sorted((lane,) for _, lane, _ in rows))
    for _, _, type_ in rows:
        count(tx, control, type_, "pending", "", -1)
        count(tx, control, type_, "cancelled", "", 1)
    return len(rows)


def _pending(tx: Tx, job: int, limit: int) -> list[Row]:
    """(id, lane, type) of some pending targets, by way of their lanes: a scan by id would pass all settled ones."""
    found: list[Row] = []
    lanes = tx.rows(
        "SELECT l.id FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = ? AND l.todo > 0 ORDER BY l.id LIMIT ?",
        (job, limit),
    )
    for (lane,) in lanes:
        for state in (State.READY, State.WAITING, State.SOLO):
            # The state is spelled into the text: a partial index is only used where SQL shows its condition.
            sql = f"SELECT id, lane, type FROM target WHERE lane = ? AND state = {int(state)} LIMIT ?"
            found += tx.rows(sql, (lane, limit - len(found)))
        if len(found) >= limit:
            break
    return found


def next_number(tx: Tx, chunk: int) -> tuple[int, int, int]:
    """(chunk, its next commit number, its epoch), taken under the row's lock."""
    row = one(tx, "UPDATE chunk SET no = no + 1 WHERE id = ? RETURNING no, epoch", (chunk,))
    assert row is not None
    return chunk, int(row[0]), int(row[1])
