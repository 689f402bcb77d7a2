"""Going back to a checkpoint, as every surface asks for it and tells of it: a snapshot first, then the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.control.snapshot import at_rest
from holdfast.engine.liveness import is_dead
from holdfast.errors import LedgerUnavailable, Refused
from holdfast.model.edit import RolledBack
from holdfast.model.job import Job, JobFilter
from holdfast.model.states import JOB, move
from holdfast.policy.rollback import checked, no_checkpoint
from holdfast.ports import Ledger


def foretell(ledger: Ledger, job: Job, number: int) -> RolledBack:
    """What going back would do now; nothing is changed."""
    return ledger.foretell_rollback(job.id, number, is_dead=is_dead)


def rollback(
    ledger: Ledger, job: Job, number: int, *, actor: str, take_snapshot: Callable[[Job], Path]
) -> tuple[RolledBack, Path]:
    """Take a snapshot and go back; the job is paused then. Where the answer is lost, the same again ends alike.

    Refused while a process works the job: a snapshot needs it at rest. A worker that takes it up in between loses it.
    """
    _check(ledger, job, number)  # before a file is written for nothing
    job = at_rest(ledger, job)
    snapshot = take_snapshot(job)
    try:
        done = ledger.rollback(job.id, number, actor=actor, is_dead=is_dead, version=job.version)
        return done, snapshot
    except LedgerUnavailable as error:
        raise LedgerUnavailable(
            f"{error.message}; whether {job.name} is back at checkpoint {number} is not known",
            hint=f"the same again ends alike: holdfast rollback {job.word} {number}",
        ) from error


def fork(
    ledger: Ledger, job: Job, number: int, name: str, *, actor: str, copy: Callable[[Job, str], Job]
) -> tuple[Job, RolledBack]:
    """A copy of the job under this name, gone back to a checkpoint; the job itself is left as it is.

    Two commits: killed between them, the copy is there as the job stands now, and can be rolled back by its own name.
    """
    _check(ledger, job, number)
    if ledger.jobs(where=JobFilter(name=name), limit=1):
        raise Refused(f"there is a job {name} already", hint="--name OTHER")
    made = copy(at_rest(ledger, job), name)
    done = ledger.rollback(made.id, number, actor=actor, is_dead=is_dead)
    return ledger.job(made.id), done


def _check(ledger: Ledger, job: Job, number: int) -> None:
    """As the ledger will."""
    move(JOB, job.status, "rollback")
    rows = ledger.checkpoints(job.id, before=number + 1, limit=1)
    if not rows or rows[0].number != number:
        newest = ledger.checkpoints(job.id, limit=1)
        raise no_checkpoint(job, number, newest[0].number if newest else None)
    checked(job, number, rows[0].point, rows[0].undone_by)


def rollback_document(
    job: Job, done: RolledBack, *, dry_run: bool, snapshot: Path | None = None, fork_of: Job | None = None
) -> dict[str, Any]:
    """The fields of ux 5.2, and what is behind them."""
    return {
        "schema": "holdfast.rollback/1",
        "job": job.uid,
        "name": job.name,
        "fork_of": None if fork_of is None else fork_of.uid,
        "checkpoint": done.checkpoint,
        "dry_run": dry_run,
        "requeues": done.requeues,
        "drops": done.drops,
        "restores": done.restores,
        "keeps_artifacts": done.keeps_artifacts,
        "drops_exclusions": list(done.drops_exclusions),
        "restores_exclusions": list(done.restores_exclusions),
        "counts": done.counts.seven(),
        "snapshot": None if snapshot is None else str(snapshot),
    }
