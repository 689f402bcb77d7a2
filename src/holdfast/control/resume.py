"""How a job is resumed where more than "go on" is asked for (PAU-12): which targets go back to pending before that.

auto                what failed goes back to pending; what is done or skipped stays
retry_failed_only   the same, for a job in which nothing else is left
redo_in_progress    what was in progress or pending, and nothing that failed: as without a strategy
none                earlier runs do not count: from the seeds, as a new generation; earlier results are kept
"""

from __future__ import annotations

from holdfast.control.reopen import rescan, restart, retry
from holdfast.control.stopping import pause
from holdfast.engine.recovery import holder_of
from holdfast.errors import Refused
from holdfast.model.job import Job
from holdfast.ports import Ledger

STRATEGIES = ("auto", "retry_failed_only", "redo_in_progress", "none")


def prepared(ledger: Ledger, job: Job, strategy: str, *, actor: str) -> tuple[Job, int]:
    """(the job, ready to be carried on with; how many failed targets were put back). IllegalMove or Refused: it cannot.

    A job that a live process works is left to it.
    """
    if holder_of(ledger, job) is not None or strategy == "redo_in_progress":
        return job, 0
    if strategy == "retry_failed_only" and (left := ledger.books(job.id)[1].left):
        raise Refused(
            f"{job.name} has {left} targets pending besides what failed. "
            f"Allowed: holdfast resume {job.word} --strategy auto, holdfast retry {job.word}."
        )
    if job.status == "in_progress":  # left by a crash: only from rest can its targets be put back
        job = pause(ledger, job, actor=actor)
    if strategy == "none":
        return _afresh(ledger, job, actor), 0
    return (job, 0) if job.status == "pending" else retry(ledger, job, actor=actor, because=f"strategy {strategy}")


def _afresh(ledger: Ledger, job: Job, actor: str) -> Job:
    if job.status == "pending":
        return job
    return rescan(ledger, job, actor=actor) if job.status == "completed" else restart(ledger, job, actor=actor)
