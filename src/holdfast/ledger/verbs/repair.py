"""Repair: succeeded targets whose bytes are gone go back to pending, with the reason (D8). Rows are never invented."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.ledger.books import add_event
from holdfast.ledger.tx import Tx, marks
from holdfast.ledger.verbs.jobs import control_chunk, next_number, read_job
from holdfast.ledger.verbs.reopen import set_out
from holdfast.ledger.verbs.undo import IMAGED, put_back
from holdfast.model.states import JOB, State, move


def repair(tx: Tx, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
    """Put those of the targets that have succeeded back to pending, in one commit; a job that was over is in progress
    again. Returns how many were put back."""
    before = read_job(tx, job, locked=True)
    rows = tx.rows(
        f"SELECT {IMAGED} FROM target t WHERE t.job = ? AND t.id IN ({marks(targets)}) AND t.state = ? ORDER BY t.id",
        (job, *targets, int(State.SUCCEEDED)),
    )
    if not rows:
        return 0
    if before.status != "in_progress":
        step = move(JOB, before.status, "retry")
        tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))
        if step.source != step.target:
            set_out(tx, job, step, because)
        add_event(tx, control_chunk(tx, job), "job", "retry", step.source, step.target, actor=actor, because=because)
    put_back(tx, next_number(tx, control_chunk(tx, job)), "mend", rows, actor=actor)
    ids = [row[0] for row in rows]
    tx.run(f"UPDATE target SET because = ? WHERE id IN ({marks(ids)})", (because, *ids))
    return len(rows)
