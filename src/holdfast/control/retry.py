"""What a retry would put back, before it does: nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from holdfast.control.reopen import chosen
from holdfast.model.job import Job
from holdfast.model.states import JOB, move
from holdfast.model.target import TargetRow
from holdfast.policy.filters import Condition
from holdfast.ports import Ledger

SAMPLE = 10
ROWS_AT_ONCE = 1000


class RetryPreview(msgspec.Struct, frozen=True):
    """So many of the failed targets would be queued again; the first of them."""

    requeues: int
    of_failed: int
    sample: tuple[TargetRow, ...]


def foretell(ledger: Ledger, job: Job, where: Sequence[Condition]) -> RetryPreview:
    """IllegalMove where the retry itself would be refused."""
    now, counts, _ = ledger.books(job.id)
    move(JOB, now.status, "retry")
    requeues, after = 0, 0
    sample: list[TargetRow] = []
    while rows := chosen(ledger, job, where, after=after, limit=ROWS_AT_ONCE):
        sample += rows[: SAMPLE - len(sample)]
        requeues, after = requeues + len(rows), rows[-1].id
    return RetryPreview(requeues, counts.failed, tuple(sample))
