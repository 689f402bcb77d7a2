"""Pace and limits that are typed for a job that is there: kept with it, printed, an event (ux 3.3)."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.control.submit import changes_of
from holdfast.engine.recovery import holder_of
from holdfast.model.edit import MODES
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger


def stays_closed(job: Job, mode: str | None) -> bool:
    """Whether nothing of this job will be worked now. A completed one may be scanned again later."""
    return job.status == "cancelled" or (job.status == "completed" and mode not in MODES)


def amended(call: Call, ledger: Ledger, job: Job, options: Options) -> Job:
    """Changed pace and limits: kept, printed, an event. A cancelled job has no use for them."""
    because = ", ".join(changes_of(job.options, options))
    if not because or job.status == "cancelled":
        return job
    when = from_when(call, ledger, job)
    job = ledger.amend(job, options=options, actor="cli", because=because)
    call.console.say(f"{job.name}: {because}{when}")
    return job


def from_when(call: Call, ledger: Ledger, job: Job) -> str:
    """Changes to a job without working it. A process that works the job now goes on as it began."""
    if job.status == "completed" and stays_closed(job, call.options.mode):
        return " (kept for its next scan)"
    return " (from its next start on)" if holder_of(ledger, job) is not None else ""
