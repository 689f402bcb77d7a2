"""Going back to a checkpoint, in memory: the targets are those that were kept beside it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from holdfast.errors import Refused
from holdfast.model.edit import RolledBack
from holdfast.model.record import Checkpoint, Circumstances
from holdfast.model.states import JOB, STATES_OF, State, move, wire_status
from holdfast.policy.rollback import checked, no_checkpoint
from holdfast.ports import IsDead
from oracle.books import (
    add_entry,
    add_event,
    checkpoints_of,
    chunk_of,
    chunks_of,
    counts_of,
    put,
    read_job,
    write_checkpoint,
)
from oracle.exclude import exclusions
from oracle.jobs import close_runs
from oracle.leases import release, rescue
from oracle.state import Commit, Saved, Tables, TargetState, WalkRow

PENDING = STATES_OF["pending"]


def rollback(tables: Tables, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None) -> RolledBack:
    """The job is paused then, with the counts of that checkpoint; what was in hand there is pending."""
    before = read_job(tables, job)
    step = move(JOB, before.status, "rollback")
    if version is not None and version != before.version:
        raise Refused(f"{before} was changed meanwhile: it is {before.status} (version {before.version})")
    earlier = checkpoints_of(tables, job)
    asked = next((each for each in earlier if each.number == number), None)
    if asked is None:
        raise no_checkpoint(before, number, earlier[-1].number if earlier else None)
    whole = asked if asked.is_valid() else None
    point, beside = checked(before, number, whole, tables.undone_by.get((job, number)))
    if any(str(chunk.id) not in point.commits for chunk in chunks_of(tables, job)):
        beside = msgspec.structs.replace(
            beside, plan_done=False
        )  # what chunks had that were added since is planned again
    rescue(tables, job, is_dead=is_dead)
    release(tables, [chunk.lease() for chunk in chunks_of(tables, job) if chunk.owner is not None])
    _raise_epochs(tables, job, point)
    control = chunk_of(tables, job, "control").id
    saved = tables.saved[job, number]
    bodies = _forget(tables, job, point.commits, saved)
    requeues, drops, restores = _restore_targets(tables, job, control, saved)
    dropped, back = _restore_exclusions(tables, job, beside, actor)
    _restore_plan(tables, job, point, beside)
    now = tables.at.wall_ms
    tables.jobs[job] = replace(
        tables.jobs[job], status="paused", requested=None, paused_by="user", since=now, phase=point.phase,
        because=f"rolled back to checkpoint {number}", generation=point.generation, plan_done=beside.plan_done,
        stop_reason=None, health=None, paused_at=now, finished_at=None, last_error=None, version=before.version + 1,
    )  # fmt: skip
    close_runs(tables, job, "paused", "user")
    add_event(
        tables, control, "job", "rollback", step.source, step.target, actor=actor, because=f"to checkpoint {number}"
    )
    written = write_checkpoint(tables, job, "rollback")
    for each in earlier:
        if each.number > number:
            tables.undone_by.setdefault((job, each.number), written)
    return RolledBack(
        checkpoint=number, requeues=requeues, drops=drops, restores=restores, keeps_artifacts=bodies,
        drops_exclusions=dropped, restores_exclusions=back, counts=counts_of(tables, job),
    )  # fmt: skip


def _raise_epochs(tables: Tables, job: int, point: Checkpoint) -> None:
    for chunk in chunks_of(tables, job):
        tables.chunks[chunk.id] = replace(chunk, epoch=chunk.epoch + 1, phase=point.phase, requested=None)
        add_entry(tables, chunk.id, "rollback")


def _restore_targets(tables: Tables, job: int, control: int, saved: Saved) -> tuple[int, int, int]:
    """How many are pending again, are gone, are settled again."""
    requeues = drops = restores = 0
    for now in [row for row in tables.targets.values() if row.job == job]:
        then = saved.targets.get(now.id)
        if then is None:
            _drop(tables, now, control)
            drops += 1
        elif then != now:
            back = _open_again(then) if then.settled_by is None else then
            requeues += now.settled_by is not None and back.settled_by is None
            restores += back.settled_by is not None and back.settled_by != now.settled_by
            put(tables, back, control)
    return requeues, drops, restores


def _drop(tables: Tables, row: TargetState, control: int) -> None:
    tables.tallies[control, row.found.type, wire_status(row.state), row.reason] -= 1
    del tables.targets[row.id], tables.keys[row.job, row.found.key]
    tables.labels.pop(row.id, None)


def _open_again(then: TargetState) -> TargetState:
    """Pending, whatever it waited for. A claim that stood has spent an attempt: it is given back."""
    held = then.state == State.HELD
    suspect = then.state == State.SOLO or (held and then.alone)
    return replace(
        then, state=State.SOLO if suspect else State.READY, attempts=then.attempts - held, alone=False, code=None,
        because=None, not_before=None, tried_at=0, held_epoch=None,
    )  # fmt: skip


def _forget(tables: Tables, job: int, commits: Mapping[str, int], saved: Saved) -> int:
    """Results, attempts, before-images and outgoing links of later commits; how many bodies and files there were."""
    chunks = {chunk.id for chunk in chunks_of(tables, job)}

    def is_kept(commit: Commit) -> bool:
        return commit[0] not in chunks or commit[1] <= commits.get(str(commit[0]), 0)

    undone = {key for key, by in tables.record_by.items() if not is_kept(by)}
    for records in (tables.records, tables.record_by, tables.record_run, tables.record_runs):
        for key in undone & set(records):
            del records[key]
    lost = {key for key in tables.bodies if tables.targets[key[0]].job == job and key not in saved.bodies}
    for body in lost:
        del tables.bodies[body]
    files = [key for key, by in tables.artifact_by.items() if not is_kept(by)]
    for key in files:
        del tables.artifacts[key], tables.artifact_by[key]
    tables.attempts = {key: row for key, row in tables.attempts.items() if is_kept(key[:2])}
    tables.undo = {key: row for key, row in tables.undo.items() if is_kept(key[1:])}
    for link in [link for link, by in tables.external_by.items() if not is_kept(by)]:
        del tables.external[link], tables.external_by[link], tables.external_from[link]
    return len(lost) + len(files)


def _restore_exclusions(
    tables: Tables, job: int, beside: Circumstances, actor: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those that were added since are dropped, those that were removed since stand again: which are which."""
    every = exclusions(tables, job)
    dropped = tuple(each.n for each in every if each.removed_at is None and each.n not in beside.exclusions)
    back = tuple(each.n for each in every if each.removed_at is not None and each.n in beside.exclusions)
    changes = dict.fromkeys(dropped, (tables.at.wall_ms, actor)) | dict.fromkeys(back, (None, None))
    for n, (at, by) in changes.items():
        tables.exclusions[job, n] = msgspec.structs.replace(tables.exclusions[job, n], removed_at=at, removed_by=by)
    return dropped, back


def _restore_plan(tables: Tables, job: int, point: Checkpoint, beside: Circumstances) -> None:
    """The plan goes on where it was, and so does what was being put back then, from its beginning."""
    tables.plans[job] = replace(
        tables.plans[job], cursor=point.cursor, done=beside.plan_done, trail=beside.trail, mode=beside.mode,
        opening=beside.opening,
    )  # fmt: skip
    tables.walks = {n: row for n, row in tables.walks.items() if row.job != job}
    for n, walk in enumerate(beside.walks, max(tables.walks, default=0) + 1):
        tables.walks[n] = WalkRow(job, walk.verb, walk.actor, walk.doc)
