"""Pause and cancel, as every surface asks for them: carried out at once if no process works the job."""

from __future__ import annotations

from holdfast.engine.patience import repeated
from holdfast.engine.recovery import REQUESTED_BECAUSE, VERB_TRIES, acknowledged, cancel_rest, is_half_cancelled
from holdfast.model.job import Job
from holdfast.model.lease import Lease
from holdfast.ports import Ledger


def pause(ledger: Ledger, job: Job, *, actor: str, paused_by: str = "user") -> Job:
    """Ask for a pause. If no process works the job it takes effect at once; else `requested` stands until it does."""
    because = REQUESTED_BECAUSE[paused_by]
    repeated(
        lambda: ledger.request(job.id, "pause", actor=actor, because=because, paused_by=paused_by), tries=VERB_TRIES
    )
    return acknowledged(ledger, job)


def cancel(ledger: Ledger, job: Job, *, actor: str, now: bool = False) -> Job:
    """Ask for the end. If no process works the job it comes at once, pending targets included.

    A cancel that was cut short is finished by the next one. `now`: do not wait for workers. They lose their leases, so
    what they have in hand is cancelled with the rest, and their later results are refused.
    """
    if is_half_cancelled(ledger, job):
        cancel_rest(ledger, job)
        return ledger.job(job.id)
    repeated(lambda: ledger.request(job.id, "cancel", actor=actor, because="cancelled by user"), tries=VERB_TRIES)
    if now:
        repeated(lambda: ledger.release(_leases_of(ledger, job)), tries=VERB_TRIES)
    return acknowledged(ledger, job)


def _leases_of(ledger: Ledger, job: Job) -> list[Lease]:
    """The leases of the job's workers, to release on their behalf: while a cancel stands no new ones are given."""
    held = ledger.holders(job.id)
    return [Lease(each.chunk, job.id, each.kind, 0, each.epoch, 0, job.phase) for each in held]
