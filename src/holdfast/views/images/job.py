"""The job document of an images job, its summary, its keywords, and when it will be done (IMG-02, API-01, API-03)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from holdfast.clock import iso
from holdfast.model.job import Job
from holdfast.views.images.chunk import metadata, per_engine, progress_of, status_of, touched_at, tried
from holdfast.views.images.engine import engine_document
from holdfast.views.images.reading import ImagesView, KeywordView
from holdfast.views.images.workers import ChunkWork
from holdfast.views.job import AVERAGE_MS_MIN


def job_document(view: ImagesView, worked: dict[int, ChunkWork]) -> dict[str, Any]:
    tasks = [worked[each.chunk].task_id for each in view.keywords if each.chunk in worked]
    return {
        "id": view.job.uid,
        "type": "job",
        "status": _status(view),
        "created_at": iso(view.job.created_at),
        "updated_at": iso(_updated(view)),
        "metadata": metadata(view, name=view.job.name, engines=list(view.engines)),
        "job_id": view.job.uid,
        "project_id": None,  # jobs belong to no projects
        "keywords": [each.name for each in view.keywords],
        "max_images": _wanted(view),
        **_chunks(view),
        "task_ids": [each for each in tasks if each is not None],
    }


def summary_document(view: ImagesView, now_ms: int) -> dict[str, Any]:
    """API-01."""
    left = remaining_s(view) if view.point is None and view.job.status == "in_progress" else None
    return {
        "job_id": view.job.uid,
        "status": _status(view),
        **_chunks(view),
        "progress_percentage": _progress(view),
        "estimated_completion_time": None if left is None else iso(now_ms + round(left * 1000)),
        "created_at": iso(view.job.created_at),
        "updated_at": iso(_updated(view)),
    }


def keyword_document(view: ImagesView, keyword: KeywordView) -> dict[str, Any]:
    """API-03: an engine was used where it was asked."""
    numbers = per_engine(view, keyword)
    engines = {name: engine_document(view, keyword, name, each) for name, each in numbers.items()}
    return {
        "keyword": keyword.name,
        "total_images_discovered": len(keyword.urls),
        "total_images_downloaded": keyword.kept,
        "engines_used": [name for name in view.engines if tried(keyword, name)],
        "engine_breakdown": {
            name: {
                "engine_name": name,
                "images_discovered": each["images_discovered"],
                "images_downloaded": each["images_downloaded"],
                "variations_attempted": len(each["variations_attempted"]),
                "status": each["status"],
            }
            for name, each in engines.items()
        },
    }


def remaining_s(view: ImagesView) -> float | None:
    """At the pace so far, for the images that are still missing; None where the pace or the rest cannot be told.

    Not in the first minute, whose pace says little, nor where nothing was kept yet.
    """
    job: Job = view.job
    if job.active_ms < AVERAGE_MS_MIN or job.generation > 1:
        return None
    open_ones = [each for each in view.keywords if not each.is_done]
    if not open_ones:
        return 0.0
    if _wanted(view) is None:
        fates = Counter(url.fate for each in view.keywords for url in each.urls.values())
        left, done = fates["pending"], sum(fates.values()) - fates["pending"]
    else:
        left = sum(max(0, (each.wanted or 0) - each.kept) for each in open_ones)
        done = sum(each.kept for each in view.keywords)
    return round(left * job.active_ms / 1000 / done, 1) if done else None


def _status(view: ImagesView) -> str:
    """As of a checkpoint a job is what its chunks were; now it is what its row says."""
    if view.point is None:
        return view.job.status
    statuses = {status_of(each) for each in view.keywords}
    return (
        "completed" if statuses <= {"completed", "failed"} else "pending" if statuses == {"pending"} else "in_progress"
    )


def _chunks(view: ImagesView) -> dict[str, int]:
    statuses = Counter(status_of(each) for each in view.keywords)
    return {
        "total_chunks": len(view.keywords),
        "active_chunks": statuses["in_progress"],
        "completed_chunks": statuses["completed"],
        "failed_chunks": statuses["failed"],
    }


def _wanted(view: ImagesView) -> int | None:
    wanted = [each.wanted for each in view.keywords]
    return None if None in wanted else sum(each or 0 for each in wanted)


def _progress(view: ImagesView) -> float:
    every = [progress_of(each) for each in view.keywords]
    return round(sum(every) / len(every), 2) if every else 0.0


def _updated(view: ImagesView) -> int:
    return max((touched_at(view, each.rows) for each in view.keywords), default=view.job.created_at)
