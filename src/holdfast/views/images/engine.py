"""The engine document of a keyword, and the attempts at variations in it (IMG-02, IMG-09)."""

from __future__ import annotations

from typing import Any

from holdfast.clock import iso
from holdfast.recipes.images.facts import LIST
from holdfast.recipes.images.params import plan_params
from holdfast.recipes.images.recipe import ROWS_PER_PAGE
from holdfast.views.images.breakdown import NUMBERS
from holdfast.views.images.chunk import (
    began_at,
    current_question,
    last_tried,
    metadata,
    offsets_of,
    touched_at,
    tried,
)
from holdfast.views.images.reading import ImagesView, KeywordView, QuestionView

VARIATION_CHARACTERS_MAX = 500


def engine_id(keyword: KeywordView, engine: str) -> str:
    return f"C-{keyword.chunk:x}:{engine}"


def engine_document(view: ImagesView, keyword: KeywordView, engine: str, images: dict[str, Any]) -> dict[str, Any]:
    """`images`: the numbers of this engine's URLs."""
    mine = [one for one in keyword.questions if one.asked.engine == engine]
    rows = [one.row for one in mine] + [url.download for one in mine for url in one.urls if url.download is not None]
    queue = variations_left(view, keyword, engine)
    now = current_question(keyword)
    current = now if now is not None and now.asked.engine == engine else last_tried(keyword, engine)
    return {
        "id": engine_id(keyword, engine),
        "type": "engine",
        "status": _status(keyword, mine),
        "created_at": iso(began_at(view, rows)),
        "updated_at": iso(touched_at(view, rows)),
        "metadata": metadata(view),
        "chunk_id": f"C-{keyword.chunk:x}",
        "engine_name": engine,
        "keyword": keyword.name,
        "engine_config": _config(view, engine, mine),
        "variations_queue": [] if keyword.is_done else queue,
        "variations_attempted": [_attempt(one, next(iter(queue), None)) for one in tried(keyword, engine)],
        "current_variation": None if current is None else current.asked.query[:VARIATION_CHARACTERS_MAX],
        "current_offset": 0 if current is None else current.asked.offset,
        "images_discovered": images["discovered"],
        "images_downloaded": images["kept"],
        "processing_metadata": {name: images[name] for name in NUMBERS if name != "wanted"},
    }


def variations_left(view: ImagesView, keyword: KeywordView, engine: str) -> list[str]:
    """Templates that this engine was not asked about yet, in the order of the plan."""
    plan = plan_params(view.job.params)
    asked = {one.asked.template for one in keyword.questions if one.asked.engine == engine}
    return [] if plan is None else [each for each in plan.ordered_variations() if each not in asked]


def _config(view: ImagesView, engine: str, mine: list[QuestionView]) -> dict[str, Any]:
    plan = plan_params(view.job.params)
    if plan is None or engine == LIST:
        last = max((offsets_of(one)[1] for one in mine), default=0)
        return {"offset_range": [0, last], "variation_step": ROWS_PER_PAGE}
    return plan.engine_config[engine]


def _status(keyword: KeywordView, mine: list[QuestionView]) -> str:
    if not any(one.row.attempts or not one.row.is_open for one in mine):
        return "completed" if keyword.is_done else "pending"
    if all(one.row.status == "failed" for one in mine) and keyword.is_done:
        return "failed"
    return "completed" if keyword.is_done else "in_progress"


def _attempt(question: QuestionView, following: str | None) -> dict[str, Any]:
    """One question as an attempt at its variation. One that failed says how it is tried again, and what comes next."""
    row, asked, answer = question.row, question.asked, question.answer
    start, end = offsets_of(question)
    is_good = row.status == "succeeded"
    status = (
        "failed" if row.status == "failed" else "partial" if not is_good or (answer and answer.left_out) else "success"
    )
    return {
        "variation_template": asked.template,
        "formatted_query": asked.query,
        "retry_count": max(0, row.attempts - 1),
        "offset_start": start,
        "offset_end": end,
        "images_found": len(answer.candidates) if answer else 0,
        "images_downloaded": sum(1 for url in question.urls if url.was_downloaded),
        "processing_time": row.seconds,
        "status": status,
        "error_type": None if is_good else row.code or row.last_code,
        "error_message": None if is_good else row.because or row.message,
        "retry_strategy": None if is_good else "same_question" if row.is_open else "next_variation",
        "next_variation_to_try": None if is_good or row.is_open else following,
        "attempt_metadata": {
            "target": f"T-{row.id:x}",
            "round": asked.round,
            "named_first_here": len(question.urls),
            "left_out": answer.left_out if answer else 0,
            "ends_variation": bool(answer and answer.ends),
        },
    }
