"""A guarded write says how many rows it touched; a wrong number stops the transaction: no commit rather than half."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.desk import MARSH, Desk
from holdfast.errors import Corrupt
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Batch, PlanBatch


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_batch_that_settles_one_page_twice_is_refused_whole(desk: Desk) -> None:
    """L2: the second row finds nothing held, and then nothing of the batch is stored."""
    [claimed] = desk.claim()
    verdict = desk.finished(claimed).verdict
    lease = desk.group.leases[claimed.chunk]
    batch = Batch.freeze(
        chunk=lease.chunk, epoch=lease.epoch, no=lease.no + 1, worker="desk", verdicts=(verdict, verdict)
    )
    with pytest.raises(Corrupt, match="1 targets of chunk"):
        desk.ledger.settle(desk.job.id, [batch])
    assert desk.urls() == {f"{MARSH}/": "in_progress"}


def test_a_plan_that_does_not_stand_where_its_batch_begins_is_not_moved(desk: Desk) -> None:
    """L9: what was planned from another place is not stored, nor its cursor."""
    plan = next(lease for lease in desk.leases if lease.kind == "plan")
    found = (desk.context.found(seed_address(f"{MARSH}/late"), depth=0),)
    batch = PlanBatch.freeze(
        chunk=plan.chunk, epoch=plan.epoch, no=plan.no + 2, cursor=7, next_cursor=8, done=True, found=found
    )
    with pytest.raises(Corrupt, match="does not stand at 7"):
        desk.ledger.enqueue(desk.job.id, batch)
    assert desk.urls() == {f"{MARSH}/": "pending"}
