"""Pause and cancel, as every surface asks for them: carried out at once if no process works the job."""

from __future__ import annotations

from holdfast.engine.patience import repeated
from holdfast.engine.recovery import REQUESTED_BECAUSE, VERB_TRIES, acknowledged, cancel_rest, is_half_cancelled
from holdfast.model.job import Job
from holdfast.model.lease import Lease
from holdfast.ports import Ledger


def pause(ledger: Ledger, job: Job, *, actor: str, paused_by: str = "user") -> Job:
    """Ask for a pause; where nobody works the job it is taken at once. Else `requested` stands until it is."""
    because = REQUESTED_BECAUSE[paused_by]
    repeated(
        lambda: ledger.request(job.id, "pause", actor=actor, because=because, paused_by=paused_by), tries=VERB_TRIES
    )
    return acknowledged(ledger, job)


def cancel(ledger: Ledger, job: Job, *, actor: str, now: bool = False) -> Job:
    """Ask for the end; where nobody works the job it comes at once, pending targets included.

    A cancel that was cut short is finished by the next one. `now`: nobody is waited for. Who works the job loses its
    leases, so what it has in hand is cancelled with the rest, and what it brings later is refused.
    """
    if is_half_cancelled(ledger, job):
        cancel_rest(ledger, job)
        return ledger.books(job.id)[0]
    repeated(lambda: ledger.request(job.id, "cancel", actor=actor, because="cancelled by user"), tries=VERB_TRIES)
    if now:
        repeated(lambda: ledger.release(_leases_of(ledger, job)), tries=VERB_TRIES)
    return acknowledged(ledger, job)


def _leases_of(ledger: Ledger, job: Job) -> list[Lease]:
    """The leases of whoever works the job, to be given back in its place: while a cancel stands no others are given."""
    held = ledger.holders(job.id)
    return [Lease(each.chunk, job.id, each.kind, 0, each.epoch, 0, job.phase) for each in held]
