"""The chunk document of an images job: how far a keyword is, where it goes on, and what went wrong last (IMG-02)."""

from __future__ import annotations

from typing import Any

from holdfast.clock import iso
from holdfast.model.look import Detail
from holdfast.recipes.images.engines import ENGINES
from holdfast.recipes.images.engines import engine as engine_named
from holdfast.recipes.images.params import plan_params
from holdfast.recipes.images.recipe import ROWS_PER_PAGE
from holdfast.views.images.breakdown import add, numbers
from holdfast.views.images.reading import ImagesView, KeywordView, QuestionView
from holdfast.views.images.workers import ChunkWork

TYPE_CHARACTERS_MAX = 100


def chunk_document(view: ImagesView, keyword: KeywordView, worked: ChunkWork) -> dict[str, Any]:
    """Every field of IMG-02, the failure part included."""
    by_engine = per_engine(view, keyword)
    current = current_question(keyword)
    return {
        "id": f"C-{keyword.chunk:x}",
        "type": "chunk",
        "status": status_of(keyword),
        "created_at": iso(began_at(view, keyword.rows)),
        "updated_at": iso(touched_at(view, keyword.rows)),
        "metadata": metadata(view, health=health_of(keyword)),
        "chunk_id": f"C-{keyword.chunk:x}",
        "job_id": view.job.uid,
        "task_id": worked.task_id,
        "chunk_index": keyword.index,
        "keyword": keyword.name,
        "engines_queue": engines_left(view, keyword),
        "target_images": keyword.wanted,
        "current_engine": None if current is None else current.asked.engine,
        "images_downloaded": keyword.kept,
        "images_discovered_per_engine": {name: each["discovered"] for name, each in by_engine.items()},
        "images_downloaded_per_engine": {name: each["kept"] for name, each in by_engine.items()},
        "variations_tried": list(dict.fromkeys(one.asked.template for one in tried(keyword) if one.asked.template)),
        "current_offset_ranges": {
            name: offsets_of(one) for name in view.engines if (one := last_tried(keyword, name)) is not None
        },
        "progress_percentage": progress_of(keyword),
        "worker_metadata": worked.document(),
        "chunk_metadata": _totals(by_engine),
        **_failure(view, keyword, worked),
    }


def per_engine(view: ImagesView, keyword: KeywordView) -> dict[str, dict[str, Any]]:
    """The numbers of a keyword's URLs by engine."""
    found: dict[str, dict[str, Any]] = {name: numbers() for name in view.engines}
    for url in keyword.urls.values():
        add(found[url.question.asked.engine], url)
    return found


def status_of(keyword: KeywordView) -> str:
    """A keyword without an image has failed, however many questions were answered; one with too few is done."""
    if keyword.is_done:
        return "completed" if keyword.kept else "failed"
    return "in_progress" if any(row.status != "pending" or row.attempts for row in keyword.rows) else "pending"


def health_of(keyword: KeywordView) -> str | None:
    """None until it is done."""
    if not keyword.is_done:
        return None
    return "failed" if not keyword.kept else "ok" if keyword.kept >= (keyword.wanted or 1) else "partial"


def progress_of(keyword: KeywordView) -> float:
    """Of the images that are wanted; of a list whose every image is wanted, of the URLs that are settled."""
    if keyword.wanted is not None:
        return round(min(100.0, 100 * keyword.kept / keyword.wanted), 2)
    settled = sum(1 for url in keyword.urls.values() if url.fate != "pending")
    return round(100 * settled / len(keyword.urls), 2) if keyword.urls else 0.0


def tried(keyword: KeywordView, engine: str | None = None) -> list[QuestionView]:
    """Questions that were put, in the order of the plan."""
    return [
        one
        for one in keyword.questions
        if (one.row.attempts or not one.row.is_open) and engine in (None, one.asked.engine)
    ]


def last_tried(keyword: KeywordView, engine: str) -> QuestionView | None:
    return next(reversed(tried(keyword, engine)), None)


def current_question(keyword: KeywordView) -> QuestionView | None:
    """The question that is open, or the one whose files are being fetched."""
    for one in keyword.questions:
        if one.row.is_open or any(url.download is not None and url.download.is_open for url in one.urls):
            return one
    return None


def offsets_of(question: QuestionView) -> list[int]:
    """From its first result to behind its last."""
    name = question.asked.engine
    size = engine_named(name).page_size if name in ENGINES else ROWS_PER_PAGE
    return [question.asked.offset, question.asked.offset + size]


def engines_left(view: ImagesView, keyword: KeywordView) -> list[str]:
    """Engines that have something left for this keyword, in their order."""
    if keyword.is_done:
        return []
    plan = plan_params(view.job.params)
    asked = {name: sum(one.asked.engine == name for one in keyword.questions) for name in view.engines}
    every = None if plan is None else plan.questions_per_keyword // len(plan.engines)
    is_open = {
        one.asked.engine for one in keyword.questions if one.row.is_open or any(u.fate == "pending" for u in one.urls)
    }
    return [name for name in view.engines if name in is_open or (every is not None and asked[name] < every)]


def metadata(view: ImagesView, **more: Any) -> dict[str, Any]:
    """As of when the document speaks."""
    point = view.point
    return {
        "checkpoint": None if point is None else point.number,
        "at": None if point is None else iso(point.at),
    } | more


def began_at(view: ImagesView, rows: list[Detail]) -> int:
    return min((row.found_at for row in rows if row.found_at is not None), default=view.job.created_at)


def touched_at(view: ImagesView, rows: list[Detail]) -> int:
    times = (at for row in rows for at in (row.found_at, row.settled_at, row.ended_at) if at is not None)
    return max(times, default=view.job.created_at)


def _totals(by_engine: dict[str, dict[str, Any]]) -> dict[str, int]:
    names = [name for name in numbers() if name != "wanted"]
    return {name: sum(each[name] for each in by_engine.values()) for name in names}


def _failure(view: ImagesView, keyword: KeywordView, worked: ChunkWork) -> dict[str, Any]:
    """What failed last: the judgement, which says that images are missing, before a question that was not answered."""
    judged = next((row for row in reversed(keyword.judgements) if row.status == "failed"), None)
    question = next((one for one in reversed(keyword.questions) if one.row.status == "failed"), None)
    row = judged or (question.row if question else None)
    answered = [one for one in keyword.questions if one.row.status == "succeeded"]
    same = [one for one in answered if question is not None and one.asked.engine == question.asked.engine]
    point = view.point
    before = None if point is None or point.number <= 1 else f"{view.job.uid}:{point.number - 1}"
    return {
        "error_type": None if row is None else (row.code or "")[:TYPE_CHARACTERS_MAX],
        "error_message": None if row is None else row.because,
        "traceback": row.message if row is not None and row.code == "recipe_error" else None,
        "failed_engine": None if question is None else question.asked.engine,
        "failed_variation": None if question is None else question.asked.template,
        "last_successful_offset": (same or answered)[-1].asked.offset if answered else None,
        "retry_count": worked.rescues,
        "previous_checkpoint_id": before,
        "reconciled": worked.rescues > 0,
        "reconciliation_time": iso(worked.rescued_at),
    }
