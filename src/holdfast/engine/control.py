"""People's verbs on jobs, as every surface calls them: look, make ready, pause, cancel. Thin over the ledger."""

from __future__ import annotations

from holdfast.engine.ledger_thread import repeated
from holdfast.engine.liveness import is_dead
from holdfast.errors import Corrupt
from holdfast.model.job import Job, JobSpec
from holdfast.model.lease import Owner
from holdfast.policy.recovery import Row, Sight, look
from holdfast.ports import Ledger

CANCEL_SLICE = 1000
VERB_TRIES = 6


def submit(ledger: Ledger, spec: JobSpec) -> Job:
    """Accept a job, or find the one with this identity; repeated where the answer was lost."""
    return repeated(lambda: ledger.submit(spec), tries=VERB_TRIES)[0]


def holder_of(ledger: Ledger, job: Job) -> Owner | None:
    """A live process that works this job, if there is one."""
    for holder in ledger.holders(job.id):
        if not holder.lapsed and not is_dead(holder.owner):
            return holder.owner
    return None


def outlook(ledger: Ledger, job: Job, *, recipe_known: bool, asked: bool) -> Row:
    """What the recovery table says about this job now."""
    holders = ledger.holders(job.id)
    live = any(not holder.lapsed and not is_dead(holder.owner) for holder in holders)
    return look(
        Sight(
            status=job.status,
            requested=job.requested,
            holder="live" if live else "dead_or_lapsed" if holders else "nobody",
            recipe_known=recipe_known,
            asked=asked,
        )
    )


def make_ready(ledger: Ledger, job: Job, row: Row, *, actor: str) -> Job:
    """Carry out what the table says; look again afterwards. `take_up` and `watch` move nothing."""
    if row.action in ("start", "resume"):
        return ledger.move(job.id, row.action, actor=actor, because="waiting for a worker", version=job.version)
    if row.action == "acknowledge":
        return _acknowledged(ledger, job)
    if row.action == "free":
        ledger.rescue(job.id, is_dead=is_dead)
        return ledger.books(job.id)[0]
    if row.action == "report":
        raise Corrupt(f"{job}: {row.because}")
    return job


def pause(ledger: Ledger, job: Job, *, actor: str, paused_by: str = "user") -> Job:
    """Ask for a pause; where nobody works the job it is taken at once. Else `requested` stands until it is."""
    because = PAUSED_BECAUSE[paused_by]
    repeated(
        lambda: ledger.request(job.id, "pause", actor=actor, because=because, paused_by=paused_by), tries=VERB_TRIES
    )
    return _acknowledged(ledger, job)


def cancel(ledger: Ledger, job: Job, *, actor: str) -> Job:
    """Ask for the end; where nobody works the job it comes at once, pending targets included.

    A cancel that was cut short is finished by the next one.
    """
    if job.status == "cancelled" and ledger.books(job.id)[1].left:
        cancel_rest(ledger, job)
        return ledger.books(job.id)[0]
    repeated(lambda: ledger.request(job.id, "cancel", actor=actor, because="cancelled by user"), tries=VERB_TRIES)
    return _acknowledged(ledger, job)


def _acknowledged(ledger: Ledger, job: Job) -> Job:
    done = repeated(lambda: ledger.acknowledge(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = done or ledger.books(job.id)[0]
    if after.status == "cancelled":
        cancel_rest(ledger, after)
    return after


def free_dead(ledger: Ledger) -> None:
    """Free what dead workers hold, of whatever job: a host's slots are shared, and theirs would stay taken for ever."""
    for job in ledger.jobs():
        if any(holder.lapsed or is_dead(holder.owner) for holder in ledger.holders(job.id)):
            ledger.rescue(job.id, is_dead=is_dead)


def cancel_rest(ledger: Ledger, job: Job) -> None:
    """Cancel what is pending, slice by slice: a crash in between leaves the rest for the next look."""
    while ledger.cancel_rest(job.id, CANCEL_SLICE):
        continue


PAUSED_BECAUSE = {
    "user": "paused by user",
    "interrupt": "paused by Ctrl-C",
    "disk_full": "the disk is full",
    "blocked": "the site blocks us",
}
