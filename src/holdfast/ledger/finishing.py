"""The word "finished": said in the transaction that proves the books balance, and nowhere else."""

from __future__ import annotations

from holdfast.errors import Corrupt
from holdfast.ledger.books import add_entry, counts_of
from holdfast.ledger.claiming import fence
from holdfast.ledger.jobs import end_job, read_job
from holdfast.ledger.reopening import walking
from holdfast.ledger.tx import Tx, one
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Lease
from holdfast.model.outcome import DEAD_END, REFRESHES
from holdfast.policy import limits
from holdfast.policy.health import Ending, may_be_dead_end, stale_ending, verdict

# One statement, so that it is one snapshot: a running settle still shows its parent as held.
IS_DRAINED = (
    "SELECT (SELECT done FROM plan WHERE job = ?) >= ? AND NOT EXISTS (SELECT 1 FROM lane l JOIN chunk c "
    "ON c.id = l.chunk WHERE c.job = ? AND (l.todo > 0 OR l.held > 0)) "
    "AND NOT EXISTS (SELECT 1 FROM walk WHERE job = ?)"  # what a walk has not put back yet is work, too
)


def finish(
    tx: Tx, job: int, lease: Lease, plan_failed: str = "", pages_max: int | None = None, stale: str = ""
) -> Job | None:
    """Complete or fail a drained job under the control lease, or time it out at its page limit. A `stale` one fails.

    None while work, a request or another owner stands. The limit is what the job's workers claim by: at the limit
    nothing is in hand, and nobody can claim.
    """
    tx.take_turns(job)
    before = read_job(tx, job, locked=True)
    if before.status in ("completed", "failed", "timeout"):
        return before  # said already: the reply to the first call was lost
    if before.status != "in_progress" or before.requested is not None:
        return None
    drained = one(tx, IS_DRAINED, (job, 0 if plan_failed else 1, job, job))
    ending = None
    if drained is None or not drained[0]:
        ending = stale_ending(stale)
        if ending is None and walking(tx, job) is None:  # what a walk puts back leaves the count of pages
            ending = limits.at_page_limit(counts_of(tx, job), pages_max)
        if ending is None:
            return None
    row = fence(tx, lease.chunk, lease.epoch)
    if row is None:
        return None
    add_entry(tx, lease.chunk, row[0], lease.epoch, "finish")
    ending = ending or _of_drained(tx, before, plan_failed, pages_max)
    return end_job(
        tx, before, ending.verb, health=ending.health, because=ending.because, stop_reason=ending.stop_reason
    )


def _of_drained(tx: Tx, before: Job, plan_failed: str, pages_max: int | None) -> Ending:
    counts = counts_of(tx, before.id)
    seeds_failed = counts.succeeded == 0 and _seeds_failed(tx, before.id)
    dead_end = _dead_end(tx, before.id, counts) if may_be_dead_end(counts, pages_max) else ""
    ending = verdict(counts, seeds_failed_only=seeds_failed, plan_failed=plan_failed, dead_end=dead_end)
    if ending is None:
        raise Corrupt(f"{before}: lanes are empty, yet the books say {counts.left} are left")
    return ending


def _dead_end(tx: Tx, job: int, counts: Counts) -> str:
    """What the first of them says, where every page is the dead end of a seed; else nothing."""
    rows = tx.rows(
        "SELECT because FROM target WHERE job = ? AND state = 4 AND rule IN (?, ?) ORDER BY rule, id",
        (job, DEAD_END, REFRESHES),
    )
    return (rows[0][0] or "") if len(rows) == counts.succeeded else ""


def _seeds_failed(tx: Tx, job: int) -> bool:
    """Whether whatever failed was planned, or where a planned target led by redirects."""
    row = one(tx, "SELECT min(depth), max(depth) FROM target WHERE job = ? AND state = 6", (job,))
    return row is not None and tuple(row) == (0, 0)
