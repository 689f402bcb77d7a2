"""Where each keyword of an images job goes on, and how long the rest may take (PAU-11)."""

from __future__ import annotations

from typing import Any

from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.views.images.chunk import current_question, offsets_of
from holdfast.views.images.job import remaining_s
from holdfast.views.images.reading import KeywordView, read
from holdfast.views.images.workers import ChunkWork, worked


def resume_places(ledger: Ledger, job: Job) -> tuple[dict[int, dict[str, Any]], float | None]:
    """By chunk; and the estimate, None where it cannot be told."""
    view, workers = read(ledger, job), worked(ledger, job, None)
    places = {each.chunk: _place(each, workers.get(each.chunk, ChunkWork())) for each in view.keywords}
    return places, remaining_s(view)


def _place(keyword: KeywordView, last: ChunkWork) -> dict[str, Any]:
    return {
        "task_id": last.task_id,
        "chunk_index": keyword.index,
        "keyword": keyword.name,
        "resume_from": None if keyword.is_done else _resume_from(keyword),
    }


def _resume_from(keyword: KeywordView) -> dict[str, Any]:
    """The first question that is open, or whose files are; where only the judgement is left, the last one."""
    question = current_question(keyword) or next(reversed(keyword.questions), None)
    return {
        "engine": None if question is None else question.asked.engine,
        "variation": None if question is None else question.asked.query,
        "offset_ranges": None if question is None else offsets_of(question),
        "images_downloaded": keyword.kept,
    }
