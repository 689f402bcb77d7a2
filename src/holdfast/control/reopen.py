"""Retry, rescan and restart, as every surface asks for them.

Thin over the ledger. What goes in slices may be killed between two of them; the same verb again ends alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES
from holdfast.errors import LedgerUnavailable, Refused
from holdfast.model.edit import STORED
from holdfast.model.job import Job
from holdfast.model.states import JOB, move
from holdfast.model.target import TargetRow
from holdfast.policy.filters import Condition
from holdfast.ports import Ledger

FAILED: Condition = ("status", True, ("failed",))
# Targets whose answer is kept. An absence is proved by what was seen, and not read from a page.
STORED_PAGES: tuple[Condition, ...] = (
    ("status", True, ("succeeded",)), ("bytes", True, (">=0",)), ("disposition", False, ("no_record",)),
)  # fmt: skip


def retry(
    ledger: Ledger, job: Job, where: Sequence[Condition] = (), *, actor: str, because: str = ""
) -> tuple[Job, int]:
    """Failed targets that fit go back to pending, attempts counted from nothing: the job as it is then, and how many.

    completed and failed jobs move to in_progress, paused and timed-out ones stay. A retry that was cut short is ended
    first; where nothing fits, nothing is changed. IllegalMove where the lifecycle table has no such row.
    """
    now = ledger.job(job.id)
    requeued = walked(ledger, job, "retry")
    if requeued is not None and now.status == "in_progress":
        return ledger.job(job.id), requeued
    if now.status in ("paused", "timeout") and ledger.mode(job.id) == STORED:
        raise Refused(f"{now.name} is run again over its stored pages: first holdfast resume {now.word}")
    move(JOB, now.status, "retry")
    if chosen(ledger, job, where, limit=1):
        _reopened(ledger, now, "retry", where=where, actor=actor, because=because or "failed targets again")
        requeued = (requeued or 0) + (walked(ledger, job, "retry") or 0)
    return ledger.job(job.id), requeued or 0


def chosen(ledger: Ledger, job: Job, where: Sequence[Condition], *, after: int = 0, limit: int) -> list[TargetRow]:
    """The failed targets that a retry with this filter takes, page by page: those that `targets` lists."""
    return ledger.targets(job.id, where=[*where, FAILED], after=after, limit=limit)


def rescan(
    ledger: Ledger, job: Job, *, mode: str = "full", where: Sequence[Condition] = (), actor: str, because: str = ""
) -> Job:
    """completed → in_progress: every target that was fetched, and fits, is fetched again, as a new generation.

    Mode `new` asks for what changed only. The planner of the next worker puts the targets back, slice by slice.
    """
    usual = {"full": "every target again", "new": "what is new or changed"}
    because = because or usual.get(mode, mode)
    return _reopened(ledger, job, "rescan", where=where, mode=mode, actor=actor, because=because)


def reprocess(ledger: Ledger, job: Job, where: Sequence[Condition] = (), *, actor: str) -> tuple[Job, int]:
    """completed → in_progress: the recipe is run again over the stored pages that fit, and nothing is fetched: the job
    as it is then, and how many; where nothing fits, nothing is changed. One that was cut short goes on.
    """
    now = ledger.job(job.id)
    wanted = [*where, *STORED_PAGES]
    if now.status == "in_progress" and ledger.mode(job.id) == STORED:
        return now, 0
    move(JOB, now.status, "rescan")
    if not ledger.targets(job.id, where=wanted, limit=1):
        return now, 0
    because = "the recipe again over stored pages"
    now = _reopened(ledger, now, "rescan", where=wanted, mode=STORED, actor=actor, because=because)
    return now, walked(ledger, now, "rescan") or 0


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
            now = repeated(lambda: ledger.job(job.id), tries=VERB_TRIES)
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
