"""People's verbs on jobs, as every surface calls them: look, make ready, pause, cancel, retry, rescan, restart.

Thin over the ledger. A verb that goes in slices may be killed between two of them; the same verb again ends alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.engine.liveness import is_dead
from holdfast.engine.patience import repeated
from holdfast.errors import Corrupt, LedgerUnavailable
from holdfast.model.job import BEING_WORKED, Job, JobSpec
from holdfast.model.keys import seed_address
from holdfast.model.lease import LEASE_S, Lease, Owner
from holdfast.model.states import JOB, move
from holdfast.model.target import TargetRow
from holdfast.policy import limits
from holdfast.policy.filters import Condition
from holdfast.policy.leasing import RENEW_AT_SHARE
from holdfast.policy.recovery import Row, Sight, look
from holdfast.ports import Ledger

CANCEL_SLICE = 1000
VERB_TRIES = 6
FAILED: Condition = ("status", True, ("failed",))


def submit(ledger: Ledger, spec: JobSpec) -> Job:
    """Accept a job, or find the one with this identity; repeated where the answer was lost."""
    return repeated(lambda: ledger.submit(spec), tries=VERB_TRIES)[0]


def limit_hosts(ledger: Ledger, hosts: Mapping[str, Mapping[str, int]]) -> None:
    """What the settings say about single hosts, for every job; what was typed since they said it stays."""
    for name, fields in hosts.items():
        host = seed_address(name).host
        ledger.configure_host(host, delay_ms=fields.get("delay"), concurrency=fields.get("concurrency"))


def holder_of(ledger: Ledger, job: Job) -> Owner | None:
    """A live process that works this job, if there is one."""
    for holder in ledger.holders(job.id):
        if not holder.lapsed and not is_dead(holder.owner):
            return holder.owner
    return None


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


def acknowledged(ledger: Ledger, job: Job) -> Job:
    """What was asked for is carried out where nobody works the job, a cancel with all that was left."""
    done = repeated(lambda: ledger.acknowledge(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = done or ledger.books(job.id)[0]
    if after.status == "cancelled":
        cancel_rest(ledger, after)
    return after


def retry(
    ledger: Ledger, job: Job, where: Sequence[Condition] = (), *, actor: str, because: str = ""
) -> tuple[Job, int]:
    """Failed targets that fit go back to pending, attempts counted from nothing: the job as it is then, and how many.

    completed and failed jobs move to in_progress, paused and timed-out ones stay. A retry that was cut short is ended
    first; where nothing fits, nothing is changed. IllegalMove where the lifecycle table has no such row.
    """
    now = ledger.books(job.id)[0]
    requeued = walked(ledger, job, "retry")
    if requeued is not None and now.status == "in_progress":
        return ledger.books(job.id)[0], requeued
    move(JOB, now.status, "retry")
    if chosen(ledger, job, where, limit=1):
        _reopened(ledger, now, "retry", where=where, actor=actor, because=because or "failed targets again")
        requeued = (requeued or 0) + (walked(ledger, job, "retry") or 0)
    return ledger.books(job.id)[0], requeued or 0


def chosen(ledger: Ledger, job: Job, where: Sequence[Condition], *, after: int = 0, limit: int) -> list[TargetRow]:
    """The failed targets that a retry with this filter takes, page by page: those that `targets` lists."""
    return ledger.targets(job.id, where=[*where, FAILED], after=after, limit=limit)


def rescan(ledger: Ledger, job: Job, *, mode: str = "full", actor: str) -> Job:
    """completed → in_progress: every target that was fetched is fetched again, as a new generation.

    Mode `new` asks for what changed only. The planner of whoever works the job puts the targets back, slice by slice.
    """
    because = {"full": "every target again", "new": "what is new or changed"}
    return _reopened(ledger, job, "rescan", mode=mode, actor=actor, because=because.get(mode, mode))


def restart(ledger: Ledger, job: Job, *, actor: str) -> Job:
    """paused → pending: to run again from its seeds, as a new generation; earlier results are kept."""
    return _reopened(ledger, job, "restart", actor=actor, because="to run again from its seeds")


def _reopened(
    ledger: Ledger,
    job: Job,
    verb: str,
    *,
    where: Sequence[Condition] = (),
    mode: str = "full",
    actor: str,
    because: str,
) -> Job:
    """Guarded by the version: where the answer was lost, the same call again would find its own move done."""
    for _ in range(VERB_TRIES):
        try:
            return ledger.reopen(
                job.id, verb, where=where, mode=mode, actor=actor, because=because, version=job.version
            )
        except LedgerUnavailable:
            now = repeated(lambda: ledger.books(job.id)[0], tries=VERB_TRIES)
            if now.version != job.version:
                return now
    raise LedgerUnavailable


def walked(ledger: Ledger, job: Job, verb: str) -> int | None:
    """Carry out the standing walks of this verb; how many targets were put back, None where no walk stood."""
    if ledger.walking(job.id, verb) is None:
        return None
    requeued, left = 0, True
    while left:
        done = repeated(lambda: ledger.walk(job.id, verb=verb), tries=VERB_TRIES)
        requeued, left = requeued + done.requeued, done.left
    return requeued


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
