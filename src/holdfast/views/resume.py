"""What a resume is about to do, as it is answered (PAU-11): which chunks have work left, where, and for how long.

Read before anything is worked. Chunks with targets that are not settled are retried; all others are skipped.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.clock import iso
from holdfast.engine.liveness import is_dead
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of
from holdfast.views.job import AVERAGE_MS_MIN

AFRESH = "none"  # the strategy that begins from the seeds again


def resume_answer(ledger: Ledger, job: Job, *, strategy: str | None, now_ms: int) -> dict[str, Any]:
    """The whole answer, chunk by chunk. Where the kind knows, with the place at which each goes on."""
    now, counts, _ = ledger.books(job.id)
    chunks = dict(ledger.open_chunks(job.id))
    active = {each.chunk for each in ledger.holders(job.id) if not each.lapsed and not is_dead(each.owner)}
    places, remaining = _places(ledger, now)
    done = counts.succeeded + counts.failed
    if not kind_of(now).views and done and now.active_ms >= AVERAGE_MS_MIN:
        remaining = round(counts.left * now.active_ms / done / 1000, 1)
    to_skip = [places[chunk] for chunk, left in chunks.items() if not left]
    return {
        "job_id": now.uid,
        "resume_strategy": "full" if strategy == AFRESH else "incremental",
        "chunks_to_retry": [places[chunk] for chunk, left in chunks.items() if left],
        "chunks_to_skip": to_skip,
        "chunks_completed": len(to_skip),
        "chunks_active": len(active & set(chunks)),
        "estimated_remaining_time": remaining,
        "resume_started_at": iso(now_ms),
    }


def resume_document(ledger: Ledger, job: Job, *, strategy: str | None, now_ms: int) -> dict[str, Any]:
    """What `--json` says of a resume beside the job: the lists as numbers, and where each chunk goes on."""
    answer = resume_answer(ledger, job, strategy=strategy, now_ms=now_ms)
    points = answer["chunks_to_retry"]
    counted = {name: len(answer[name]) for name in ("chunks_to_retry", "chunks_to_skip")}
    return {name: answer[name] for name in answer if name != "job_id"} | counted | {"resume_points": points}


def _places(ledger: Ledger, job: Job) -> tuple[dict[int, dict[str, Any]], float | None]:
    """Every chunk with its place, and the time that is left where the kind has an estimate of its own."""
    package = kind_of(job).views
    if package:
        places, remaining = import_module(f"holdfast.views.{package}.resume").resume_places(ledger, job)
        return places, remaining
    names = ledger.chunk_names(job.id)
    return {
        chunk: {"task_id": None, "chunk_index": index, "keyword": name or None, "resume_from": None}
        for index, (chunk, name) in enumerate(names.items())
    }, None
