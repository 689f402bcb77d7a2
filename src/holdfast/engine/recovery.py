"""Look at a job, decide by the recovery table, make it ready to be worked: what every start does first.

Thin over the ledger. What goes in slices may be killed between two of them; the same call again ends alike.
"""

from __future__ import annotations

from holdfast.engine.liveness import is_dead
from holdfast.engine.patience import repeated
from holdfast.errors import Corrupt
from holdfast.model.job import Job
from holdfast.model.lease import Owner
from holdfast.policy import limits
from holdfast.policy.recovery import RecoveryRule, Sight, look
from holdfast.ports import Ledger

CANCEL_SLICE = 1000


VERB_TRIES = 6


def holder_of(ledger: Ledger, job: Job) -> Owner | None:
    """A live process that works this job, if there is one."""
    for holder in ledger.holders(job.id):
        if not holder.lapsed and not is_dead(holder.owner):
            return holder.owner
    return None


def outlook(ledger: Ledger, job: Job, *, recipe_known: bool, asked: bool) -> RecoveryRule:
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
            at_limit=job.status == "timeout" and _at_limit(ledger, job),
            half_cancelled=is_half_cancelled(ledger, job),
        )
    )


def _at_limit(ledger: Ledger, job: Job) -> bool:
    """While a walk stands, pages are about to leave the count, so the page limit does not stop the job."""
    now, counts, _ = ledger.books(job.id)
    limit = limits.reached(now, counts)
    return limit == "time_limit" or (limit is not None and ledger.walking(job.id) is None)


def make_ready(ledger: Ledger, job: Job, row: RecoveryRule, *, actor: str) -> Job:
    """Carry out what the table says; look again afterwards. `take_up` and `watch` move nothing."""
    if row.action in ("start", "resume"):
        return ledger.move(job.id, row.action, actor=actor, because="waiting for a worker", version=job.version)
    if row.action == "acknowledge":
        return acknowledged(ledger, job)
    if row.action == "free":
        ledger.rescue(job.id, is_dead=is_dead)
        return ledger.job(job.id)
    if row.action == "report":
        raise Corrupt(f"{job}: {row.because}")
    return job


def opened(ledger: Ledger, job: Job, *, trigger: str) -> Job:
    """The job with one run more, for the holder of its control. Repeated after a lost answer it opens no other run."""
    now = ledger.job(job.id)
    if now.run == job.run:
        ledger.open_run(job.id, mode="resume" if job.run else "full", trigger=trigger)
        now = ledger.job(job.id)
    return now


def acknowledged(ledger: Ledger, job: Job) -> Job:
    """Carry out a request if no process works the job; a cancel includes all pending targets."""
    done = repeated(lambda: ledger.acknowledge(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = done or ledger.job(job.id)
    if after.status == "cancelled":
        cancel_rest(ledger, after)
    return after


def walk_on(ledger: Ledger, job: int) -> None:
    """One slice of a walk that began while the job is worked. The command that began it may be gone, and the job cannot
    finish before the walk does."""
    if ledger.walking(job) is not None:
        ledger.walk(job)


def free_dead(ledger: Ledger) -> None:
    """Free what dead workers hold, of whatever job: a host's slots are shared, and theirs would stay taken for ever."""
    for job in ledger.jobs():
        if any(holder.lapsed or is_dead(holder.owner) for holder in ledger.holders(job.id)):
            ledger.rescue(job.id, is_dead=is_dead)


def is_half_cancelled(ledger: Ledger, job: Job) -> bool:
    """Whether its cancel was cut short: `cancel_rest` completes it."""
    return job.status == "cancelled" and ledger.books(job.id)[1].left > 0


def cancel_rest(ledger: Ledger, job: Job) -> None:
    """Cancel what is pending, slice by slice: a crash in between leaves the rest for the next look (`outlook`)."""
    while ledger.cancel_rest(job.id, CANCEL_SLICE):
        continue


REQUESTED_BECAUSE = {
    "user": "paused by user",
    "interrupt": "paused by Ctrl-C",
    "disk_full": "too little room on the disk",
    "blocked": "the site blocks us",
    "auto_resume": "found unfinished, and auto_resume is off",
    "time_limit": "the time limit is reached",
}
