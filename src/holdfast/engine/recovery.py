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
from holdfast.policy.recovery import Row, Sight, look
from holdfast.ports import Ledger

CANCEL_SLICE = 1000


VERB_TRIES = 6


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
            at_limit=job.status == "timeout" and _at_limit(ledger, job),
            half_cancelled=is_half_cancelled(ledger, job),
        )
    )


def _at_limit(ledger: Ledger, job: Job) -> bool:
    """Where a walk stands, pages are about to leave the count: the page limit keeps nobody from going on."""
    now, counts, _ = ledger.books(job.id)
    limit = limits.reached(now, counts)
    return limit == "time_limit" or (limit is not None and ledger.walking(job.id) is None)


def make_ready(ledger: Ledger, job: Job, row: Row, *, actor: str) -> Job:
    """Carry out what the table says; look again afterwards. `take_up` and `watch` move nothing."""
    if row.action in ("start", "resume"):
        return ledger.move(job.id, row.action, actor=actor, because="waiting for a worker", version=job.version)
    if row.action == "acknowledge":
        return acknowledged(ledger, job)
    if row.action == "free":
        ledger.rescue(job.id, is_dead=is_dead)
        return ledger.books(job.id)[0]
    if row.action == "report":
        raise Corrupt(f"{job}: {row.because}")
    return job


def opened(ledger: Ledger, job: Job, *, trigger: str) -> Job:
    """The job with a run more than it had, for who holds its control: asked again after a lost answer, the same one."""
    now = ledger.books(job.id)[0]
    if now.run == job.run:
        ledger.open_run(job.id, mode="resume" if job.run else "full", trigger=trigger)
        now = ledger.books(job.id)[0]
    return now


def acknowledged(ledger: Ledger, job: Job) -> Job:
    """What was asked for is carried out where nobody works the job, a cancel with all that was left."""
    done = repeated(lambda: ledger.acknowledge(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = done or ledger.books(job.id)[0]
    if after.status == "cancelled":
        cancel_rest(ledger, after)
    return after


def walk_on(ledger: Ledger, job: int) -> None:
    """A slice of a walk that was begun while the job is worked, and whose beginner may be gone: nobody else carries it
    out, and the job is not finished before."""
    if ledger.walking(job) is not None:
        ledger.walk(job)


def free_dead(ledger: Ledger) -> None:
    """Free what dead workers hold, of whatever job: a host's slots are shared, and theirs would stay taken for ever."""
    for job in ledger.jobs():
        if any(holder.lapsed or is_dead(holder.owner) for holder in ledger.holders(job.id)):
            ledger.rescue(job.id, is_dead=is_dead)


def is_half_cancelled(ledger: Ledger, job: Job) -> bool:
    """Whether who cancelled it was cut short: `cancel_rest` ends it."""
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
