"""The word "finished": said in the transaction that proves the books balance, and nowhere else."""

from __future__ import annotations

from holdfast.errors import Corrupt
from holdfast.ledger.books import add_entry, counts_of
from holdfast.ledger.claiming import fence
from holdfast.ledger.jobs import end_job, read_job
from holdfast.ledger.tx import Tx, one
from holdfast.model.job import Job
from holdfast.model.lease import Lease
from holdfast.policy.health import verdict

# One statement, so that it is one snapshot: a running settle still shows its parent as held.
IS_DRAINED = (
    "SELECT (SELECT done FROM plan WHERE job = ?) = 1 AND NOT EXISTS (SELECT 1 FROM lane l JOIN chunk c "
    "ON c.id = l.chunk WHERE c.job = ? AND (l.todo > 0 OR l.held > 0))"
)


def finish(tx: Tx, job: int, lease: Lease) -> Job | None:
    """Complete or fail a drained job under the control lease; None while work, a request or another owner stands."""
    before = read_job(tx, job, locked=True)
    if before.status in ("completed", "failed"):
        return before  # said already: the reply to the first call was lost
    if before.status != "in_progress" or before.requested is not None:
        return None
    drained = one(tx, IS_DRAINED, (job, job))
    if drained is None or not drained[0]:
        return None
    row = fence(tx, lease.chunk, lease.epoch)
    if row is None:
        return None
    add_entry(tx, lease.chunk, row[0], lease.epoch, "finish")
    counts = counts_of(tx, job)
    ending = verdict(counts, seeds_failed_only=counts.succeeded == 0 and _seeds_failed(tx, job))
    if ending is None:
        raise Corrupt(f"{before}: lanes are empty, yet the books say {counts.left} are left")
    return end_job(
        tx, before, ending.verb, health=ending.health, because=ending.because, stop_reason=ending.stop_reason
    )


def _seeds_failed(tx: Tx, job: int) -> bool:
    """Whether whatever failed was planned, or where a planned target led by redirects."""
    row = one(tx, "SELECT min(depth), max(depth) FROM target WHERE job = ? AND state = 6", (job,))
    return row is not None and tuple(row) == (0, 0)
