"""What a resume is about to do, as it is answered (PAU-11): which chunks have work left, which have none, for how long.

Counted from the lanes before anything is worked; the lists themselves are what `status --by chunk` shows.
"""

from __future__ import annotations

from typing import Any

from holdfast.clock import iso
from holdfast.engine.liveness import is_dead
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.views.job import AVERAGE_MS_MIN

AFRESH = "none"  # the strategy that begins from the seeds again


def resume_document(ledger: Ledger, job: Job, *, strategy: str | None, now_ms: int) -> dict[str, Any]:
    """Chunks with targets that are not settled are retried; all others have nothing to do and are skipped."""
    now, counts, _ = ledger.books(job.id)
    chunks = dict(ledger.open_chunks(job.id))
    to_retry = sum(1 for left in chunks.values() if left)
    active = {each.chunk for each in ledger.holders(job.id) if not each.lapsed and not is_dead(each.owner)}
    done, remaining = counts.succeeded + counts.failed, None
    if done and now.active_ms >= AVERAGE_MS_MIN:
        remaining = round(counts.left * now.active_ms / done / 1000, 1)
    return {
        "resume_strategy": "full" if strategy == AFRESH else "incremental",
        "chunks_to_retry": to_retry,
        "chunks_to_skip": len(chunks) - to_retry,
        "chunks_completed": len(chunks) - to_retry,
        "chunks_active": len(active & set(chunks)),
        "estimated_remaining_time": remaining,
        "resume_started_at": iso(now_ms),
    }
