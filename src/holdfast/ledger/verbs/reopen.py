"""Opening a job again: retry, rescan, restart. The move is one small commit that leaves a walk standing, and so is the
removal of an exclusion, and a changed scope.

The walk goes over the targets by id, one slice per commit. The command that asked for it carries it out, or the planner
of the next worker. A kill between two slices loses nothing: the walk continues behind its last commit.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from holdfast.errors import BadParams, Refused
from holdfast.ledger.books import add_event
from holdfast.ledger.reads.where import JOINED, Condition, clauses, named_ids
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.advance import turn_to
from holdfast.ledger.verbs.exclude import exclusions, readmit
from holdfast.ledger.verbs.jobs import control_chunk, next_number, read_job
from holdfast.ledger.verbs.rescope import rejudge
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT, IMAGED, begin_anew, put_back
from holdfast.model.edit import MODES, REOPENING, RULE, STORED, Walk, Walked, read_walk
from holdfast.model.job import FETCHING, Job
from holdfast.model.states import JOB, Move, State, move
from holdfast.policy.filters import resolved
from holdfast.policy.phases import Opens

# Which rows a slice looks at. `+job` keeps the planner from the key index, by which it would sort the job every time.
LOOKED_AT = {
    "retry": "SELECT id FROM target WHERE job = ? AND state = 6 AND id > ? ORDER BY id LIMIT ?",
    "rescan": "SELECT id FROM target WHERE +job = ? AND id > ? ORDER BY id LIMIT ?",
    "restart": "SELECT id FROM target WHERE +job = ? AND id > ? ORDER BY id LIMIT ?",
    "include": "SELECT id FROM target WHERE +job = ? AND id > ? ORDER BY id LIMIT ?",
    "rescope": "SELECT id FROM target WHERE +job = ? AND id > ? ORDER BY id LIMIT ?",
}
# A target that was left out when it was found was never tried, and is not tried by a rescan either; but what an
# exclusion left out that has ended is, and what a robots.txt forbade, which may say something else today.
_FETCHED = (
    "(t.state IN (4, 6) OR (t.state = 5 AND ((t.last_no IS NOT NULL AND t.disposition <> 'excluded') "
    f"OR t.disposition = 'robots' OR substr(t.rule, 1, {len(RULE)}) = '{RULE}')))"
)
AGAIN = {"retry": "t.state = 6", "rescan": _FETCHED, "restart": _FETCHED}
TRIED = "t.state IN (0, 1, 2) AND t.attempts > 0"
RULE_AT = IMAGED.split(", ").index("t.rule")
assert (State.SUCCEEDED, State.SKIPPED, State.FAILED) == (4, 5, 6)


def reopen(
    tx: Tx, job: int, verb: str, *, where: Sequence[Condition], mode: str, actor: str, because: str, version: int | None
) -> Job:
    """The guarded move with its event, and the walk that puts targets back; nothing is put back yet."""
    if verb not in REOPENING or mode not in (*MODES, STORED):
        raise BadParams(f"{verb!r} in mode {mode!r} opens no job again")
    before = read_job(tx, job, locked=True)
    step = move(JOB, before.status, verb)
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))
    if step.source != step.target:
        set_out(tx, job, step, because)
    if verb != "retry":
        tx.run("UPDATE job SET gen = gen + 1 WHERE id = ?", (job,))
        tx.run("UPDATE plan SET mode = ?, opening = ? WHERE job = ?", (mode, mode, job))
    else:
        tx.run("UPDATE plan SET mode = 'full' WHERE job = ? AND mode = ?", (job, STORED))  # a retry fetches
    add_event(tx, control_chunk(tx, job), "job", verb, step.source, step.target, actor=actor, because=because)
    if verb != "retry" and before.phase != FETCHING:
        # Everything is done again from the first phase on: nothing may be made of what is about to be fetched anew.
        turn_to(tx, before, Opens(FETCHING, anew=False), actor=actor)
    commits = {str(chunk): no for chunk, no in tx.rows("SELECT id, no FROM chunk WHERE job = ?", (job,))}
    doc = msgspec.json.encode(Walk(where=tuple(resolved(where, tx.wall())), commits=commits))
    tx.run("INSERT INTO walk (job, verb, actor, cursor, doc) VALUES (?, ?, ?, 0, ?)", (job, verb, actor, doc))
    return read_job(tx, job)


def set_out(tx: Tx, job: int, step: Move, because: str) -> None:
    """What the last end or pause said of the job is no longer so."""
    now = tx.wall()
    tx.run(
        "UPDATE job SET status = ?, requested = NULL, paused_by = NULL, stop_reason = NULL, health = NULL, "
        "because = ?, since = ?, paused_at = NULL, finished_at = NULL, last_error = NULL WHERE id = ?",
        (step.target, because, now, job),
    )


def walk(tx: Tx, job: int, verb: str | None, limit: int) -> Walked:
    """The next slice of the oldest walk (of this verb): puts back what fits, moves the cursor, ends the walk."""
    before = read_job(tx, job, locked=True)
    row = one(
        tx,
        "SELECT id, verb, actor, cursor, doc FROM walk WHERE job = ? AND (verb = ? OR ? = '') ORDER BY id LIMIT 1",
        (job, verb or "", verb or ""),
    )
    if row is None:
        return Walked()
    if before.status in ("completed", "cancelled"):
        tx.run("DELETE FROM walk WHERE job = ?", (job,))  # a cancelled job wants nothing back
        return Walked()
    number, kind, actor, cursor, doc = row
    looked_at = [target for (target,) in tx.rows(LOOKED_AT[kind], (job, cursor, limit))]
    done = _put_back(tx, before, kind, read_walk(bytes(doc)), looked_at, actor)
    if len(looked_at) < limit:
        tx.run("DELETE FROM walk WHERE id = ?", (number,))
    else:
        tx.run("UPDATE walk SET cursor = ? WHERE id = ?", (looked_at[-1], number))
    return msgspec.structs.replace(done, left=walking(tx, job, verb) is not None)


def _put_back(tx: Tx, before: Job, kind: str, doc: Walk, looked_at: list[int], actor: str) -> Walked:
    if kind == "rescope":
        return rejudge(tx, before, looked_at, actor=actor)
    if kind == "include":
        return Walked(readmit(tx, before.id, doc.exclusion, looked_at, actor=actor))
    standing = {each.rule for each in exclusions(tx, before.id) if each.is_active(before.generation)}
    rows = _chosen(tx, kind, doc, looked_at, standing)
    tried = _tried(tx, doc, looked_at, [row[1] for row in rows]) if kind == "restart" else []
    if rows:
        put_back(tx, next_number(tx, control_chunk(tx, before.id)), kind, rows, actor=actor)
    if tried:
        begin_anew(tx, next_number(tx, control_chunk(tx, before.id)), kind, tried, actor=actor)
    return Walked(len(rows))


def _tried(tx: Tx, doc: Walk, looked_at: list[int], lanes: list[int]) -> list[Row]:
    """Rows of IMAGED for those that were pending after a try: from the beginning means with every attempt.

    Claims pass by a locked lane, so what is read stays pending. Lanes are locked by id, those with them that will have
    more to do.
    """
    found: list[Row] = []
    for part in _parts(looked_at):
        found += tx.rows(f"SELECT t.lane FROM target t WHERE t.id IN ({marks(part)}) AND {TRIED}", part)
    if not found:
        return []
    for part in _parts(sorted({*lanes, *(lane for (lane,) in found)})):
        tx.rows(f"SELECT id FROM lane WHERE id IN ({marks(part)}) ORDER BY id {tx.lock('lane')}", part)
    rows: list[Row] = []
    for part in _parts(looked_at):
        sql = f"SELECT t.last_chunk, t.last_no, {IMAGED} FROM target t WHERE t.id IN ({marks(part)}) AND {TRIED}"
        rows += tx.rows(f"{sql} ORDER BY t.id", part)
    return [row[2:] for row in rows if doc.covers(row[0], row[1])]


def _parts(values: list[int]) -> list[list[int]]:
    return [padded(values[at : at + IDS_PER_STATEMENT]) for at in range(0, len(values), IDS_PER_STATEMENT)]


def walking(tx: Tx, job: int, verb: str | None = None) -> str | None:
    """The verb of the oldest walk that stands; None: there is none."""
    row = one(
        tx,
        "SELECT verb FROM walk WHERE job = ? AND (verb = ? OR ? = '') ORDER BY id LIMIT 1",
        (job, verb or "", verb or ""),
    )
    return None if row is None else str(row[0])


def _chosen(tx: Tx, kind: str, doc: Walk, looked_at: list[int], standing: set[str]) -> list[Row]:
    """Rows of IMAGED for those that fit, by id; not those that a standing exclusion leaves out."""
    named, others = named_ids(doc.where)
    extra, values = clauses(others, tx.wall())
    found: list[Row] = []
    for part in _parts([target for target in looked_at if named is None or target in named]):
        sql = f"SELECT {IMAGED} FROM {JOINED} WHERE t.id IN ({marks(part)}) AND {AGAIN[kind]}{extra} ORDER BY t.id"
        found += tx.rows(sql, (*part, *values))
    ended = [row for row in found if doc.covers(row[-2], row[-1])]
    return ended if kind == "retry" else [row for row in ended if row[RULE_AT] not in standing]
