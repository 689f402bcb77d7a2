"""The documents of an images job by level, as of now or as of a checkpoint (CHK-07). Nothing of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.model.record import Checkpoint
from holdfast.ports import Ledger
from holdfast.views.images.chunk import chunk_document, per_engine
from holdfast.views.images.download import download_document
from holdfast.views.images.engine import engine_document
from holdfast.views.images.job import job_document, keyword_document, summary_document
from holdfast.views.images.reading import QUESTIONS, WITH_FILES, ImagesView, read
from holdfast.views.images.workers import ChunkWork, worked

STATUSES = ("pending", "in_progress", "completed", "failed")


class _Asked:
    """What a level is made of: the view, and the workers of its chunks, which are read only where they are shown."""

    def __init__(self, ledger: Ledger, view: ImagesView, now_ms: int) -> None:
        self.ledger, self.view, self.now_ms = ledger, view, now_ms

    def workers(self) -> dict[int, ChunkWork]:
        return worked(self.ledger, self.view.job, self.view.point)


def documents(
    ledger: Ledger, job: Job, level: str, *, point: Checkpoint | None = None, status: str | None = None, now_ms: int
) -> list[dict[str, Any]]:
    """All of one level, in the order of the job's keywords, engines and questions; `status` keeps those of one."""
    if level not in LEVELS:
        raise BadParams(f"there is no level {level!r}; there are: {', '.join(LEVELS)}")
    if status not in (None, *STATUSES):
        raise BadParams(f"there is no status {status!r}; there are: {', '.join(STATUSES)}")
    view = read(ledger, job, point, records_of=WITH_FILES if level == "download" else QUESTIONS)
    asked = _Asked(ledger, view, now_ms)
    return [each for each in LEVELS[level](asked) if status is None or each.get("status") == status]


def _job(asked: _Asked) -> Iterator[dict[str, Any]]:
    yield job_document(asked.view, asked.workers())


def _chunks(asked: _Asked) -> Iterator[dict[str, Any]]:
    workers = asked.workers()
    for keyword in asked.view.keywords:
        yield chunk_document(asked.view, keyword, workers.get(keyword.chunk, ChunkWork()))


def _engines(asked: _Asked) -> Iterator[dict[str, Any]]:
    for keyword in asked.view.keywords:
        for engine, images in per_engine(asked.view, keyword).items():
            yield engine_document(asked.view, keyword, engine, images)


def _downloads(asked: _Asked) -> Iterator[dict[str, Any]]:
    for keyword in asked.view.keywords:
        for question in keyword.questions:
            yield download_document(asked.view, keyword, question)


def _summary(asked: _Asked) -> Iterator[dict[str, Any]]:
    yield summary_document(asked.view, asked.now_ms)


def _keywords(asked: _Asked) -> Iterator[dict[str, Any]]:
    for keyword in asked.view.keywords:
        yield keyword_document(asked.view, keyword)


LEVELS: dict[str, Callable[[_Asked], Iterator[dict[str, Any]]]] = {
    "job": _job,
    "chunk": _chunks,
    "engine": _engines,
    "download": _downloads,
    "summary": _summary,
    "keyword": _keywords,
}
