"""Going back to a checkpoint, in one transaction: what was found, settled or asked for since is undone.

Every epoch is raised, so workers of the job have lost their leases. Commit numbers, events and ids go on and are never
given again: each chunk gets an entry `rollback` whose `n` is the number gone back to; no row is left in between.
"""

from __future__ import annotations

import msgspec

from holdfast.errors import Refused
from holdfast.ledger.books import add_entry, add_event, counts_of, read_checkpoint, write_checkpoint, write_tallies
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs.due_time import set_back
from holdfast.ledger.verbs.exclude import exclusions
from holdfast.ledger.verbs.jobs import close_runs, control_chunk, read_job
from holdfast.ledger.verbs.leases import CHUNK_COLUMNS, lease_from, release, rescue
from holdfast.ledger.verbs.revert import revert
from holdfast.model.edit import RolledBack
from holdfast.model.job import Job
from holdfast.model.record import Checkpoint, Circumstances
from holdfast.model.states import JOB, move
from holdfast.policy.rollback import checked, no_checkpoint
from holdfast.ports import IsDead


def rollback(tx: Tx, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None) -> RolledBack:
    """The job is paused then, with the counts of that checkpoint; what was in hand there is pending."""
    tx.take_turns(job)
    before = read_job(tx, job, locked=True)
    step = move(JOB, before.status, "rollback")
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    point, beside = _restore_point(tx, before, number)
    _end_leases(tx, job, is_dead)
    _raise_epochs(tx, job, point)
    control = control_chunk(tx, job)
    added = _chunks_since(tx, job, point)
    reverted = revert(tx, job, control, {**point.commits, **dict.fromkeys(added, 0)})
    if added:  # their targets are planned again
        beside = msgspec.structs.replace(beside, plan_done=False)
    dropped, back = _restore_exclusions(tx, before, beside, actor)
    _restore_plan(tx, job, point, beside)
    _pause(tx, before, point, beside)
    add_event(tx, control, "job", "rollback", step.source, step.target, actor=actor, because=f"to checkpoint {number}")
    write_tallies(tx)
    written = write_checkpoint(tx, job, "rollback")
    tx.run(
        "UPDATE checkpoint SET undone_by = ? WHERE job = ? AND number > ? AND number < ? AND undone_by IS NULL",
        (written, job, number, written),
    )
    return RolledBack(
        checkpoint=number,
        requeues=reverted.requeues,
        drops=reverted.drops,
        restores=reverted.restores,
        keeps_artifacts=reverted.bodies,
        drops_exclusions=dropped,
        restores_exclusions=back,
        counts=counts_of(tx, job),
    )


def _restore_point(tx: Tx, job: Job, number: int) -> tuple[Checkpoint, Circumstances]:
    """The checkpoint, if one can go back to it."""
    row = one(tx, "SELECT doc, checksum, undone_by FROM checkpoint WHERE job = ? AND number = ?", (job.id, number))
    if row is None:
        newest = one(tx, "SELECT max(number) FROM checkpoint WHERE job = ?", (job.id,))
        raise no_checkpoint(job, number, None if newest is None else newest[0])
    return checked(job, number, read_checkpoint(number, bytes(row[0]), bytes(row[1])), row[2])


def _end_leases(tx: Tx, job: int, is_dead: IsDead) -> None:
    """What is in hand goes back: as a rescue puts it where the owner is dead, else with its attempt."""
    rescue(tx, job, is_dead=is_dead)
    rows = tx.rows(f"SELECT {CHUNK_COLUMNS} FROM chunk WHERE job = ? AND owner_pid IS NOT NULL ORDER BY id", (job,))
    release(tx, [lease_from(row) for row in rows])


def _chunks_since(tx: Tx, job: int, point: Checkpoint) -> list[str]:
    """Chunks that the job was given after this checkpoint. They stay, and nothing of theirs does."""
    rows = tx.rows("SELECT id FROM chunk WHERE job = ? ORDER BY id", (job,))
    return [str(chunk) for (chunk,) in rows if str(chunk) not in point.commits]


def _raise_epochs(tx: Tx, job: int, point: Checkpoint) -> None:
    for chunk, at in tx.rows("SELECT id, at FROM chunk WHERE job = ? ORDER BY id", (job,)):
        set_back(tx, chunk, at)
        [(no, epoch)] = tx.rows(
            "UPDATE chunk SET epoch = epoch + 1, no = no + 1, at = ?, phase = ?, requested = NULL WHERE id = ? "
            "RETURNING no, epoch",
            (tx.wall(), point.phase, chunk),
        )
        add_entry(tx, chunk, no, epoch, "rollback", n=point.commits.get(str(chunk), 0))


def _restore_exclusions(
    tx: Tx, before: Job, beside: Circumstances, actor: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those that were added since are dropped, those that were removed since stand again: which are which."""
    every = exclusions(tx, before.id)
    dropped = tuple(each.n for each in every if each.removed_at is None and each.n not in beside.exclusions)
    back = tuple(each.n for each in every if each.removed_at is not None and each.n in beside.exclusions)
    tx.many(
        "UPDATE exclusion SET removed_at = ?, removed_by = ? WHERE job = ? AND n = ?",
        [(tx.wall(), actor, before.id, n) for n in dropped] + [(None, None, before.id, n) for n in back],
    )
    tx.run("UPDATE chunk SET ruled = ? WHERE job = ?", (len(beside.exclusions), before.id))
    return dropped, back


def _restore_plan(tx: Tx, job: int, point: Checkpoint, beside: Circumstances) -> None:
    """The plan goes on where it was, and so does what was being put back then, from its beginning."""
    tx.run(
        "UPDATE plan SET cursor = ?, done = ?, trail = ?, mode = ?, opening = ? WHERE job = ?",
        (point.cursor, int(beside.plan_done), beside.trail or None, beside.mode, beside.opening, job),
    )
    tx.run("DELETE FROM walk WHERE job = ?", (job,))
    tx.many(
        "INSERT INTO walk (job, verb, actor, cursor, doc) VALUES (?, ?, ?, 0, ?)",
        [(job, walk.verb, walk.actor, msgspec.json.encode(walk.doc)) for walk in beside.walks],
    )


def _pause(tx: Tx, before: Job, point: Checkpoint, beside: Circumstances) -> None:
    """Paused by the caller. Active time is not given back."""
    now = tx.wall()
    tx.run(
        "UPDATE job SET status = 'paused', requested = NULL, paused_by = 'user', because = ?, since = ?, phase = ?, "
        "gen = ?, plan_done = ?, stop_reason = NULL, health = NULL, paused_at = ?, finished_at = NULL, "
        "last_error = NULL, version = version + 1 WHERE id = ?",
        (
            f"rolled back to checkpoint {point.number}", now, point.phase, point.generation, int(beside.plan_done),
            now, before.id,
        ),
    )  # fmt: skip
    close_runs(tx, before.id, "paused", "user")
