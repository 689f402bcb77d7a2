"""How a job stands when no process works it: since when, and whether it was ever begun."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.job import BEING_WORKED, Job
from holdfast.model.lease import LEASE_S
from holdfast.policy.leasing import RENEW_AT_SHARE
from holdfast.ports import Ledger


def as_it_stands(
    ledger: Ledger, job: Job, *, is_worked: bool, now_ms: int | None = None, life_s: float = LEASE_S
) -> Job:
    """The job as people see it: one that nobody works stands still since its last commit, not since its start.

    The active time of one that is worked is told with the beats of its lease, of this life. Before a run's first beat
    the run has been active since it began (`now_ms`: the wall clock).
    """
    if job.status != "in_progress":
        return job
    if not is_worked:
        return replace(job, since=max(job.since, ledger.pulse(job.id)))
    if now_ms is None or job.options.time_limit_s is not None:  # told every second where it is limited
        return job
    began = max((run.started_at for run in ledger.runs(job.id) if run.ended_at is None), default=now_ms)
    untold = now_ms - began
    return replace(job, active_ms=job.active_ms + untold) if 0 < untold < life_s * RENEW_AT_SHARE * 1000 else job


def is_queued(job: Job) -> bool:
    """Of a job in progress that nobody works: whether that is so because nobody has begun."""
    return job.requested is None and job.because != BEING_WORKED
