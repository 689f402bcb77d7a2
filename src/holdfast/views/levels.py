"""Documents by level, of kinds of job that have them: as of now, or as of a checkpoint (CHK-07)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.clock import iso
from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.model.record import Checkpoint
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of

LEVELS = ("job", "chunk", "engine", "download", "summary", "keyword")


def level_documents(
    ledger: Ledger, job: Job, level: str, *, point: Checkpoint | None = None, status: str | None = None, now_ms: int
) -> list[dict[str, Any]]:
    """All documents of one level; BadParams for a kind of job that has none."""
    package = kind_of(job).views
    if not package:
        raise BadParams(f"{job.name} has no documents by level: {job.recipe} jobs have none", hint="images jobs do")
    module = import_module(f"holdfast.views.{package}.documents")
    found: list[dict[str, Any]] = module.documents(ledger, job, level, point=point, status=status, now_ms=now_ms)
    return found


def level_listing(job: Job, level: str, point: Checkpoint | None, documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The one document that holds them all."""
    return {
        "schema": "holdfast.level/1",
        "job": job.uid,
        "name": job.name,
        "level": level,
        "checkpoint": None if point is None else point.number,
        "at": None if point is None else iso(point.at),
        "documents": documents,
    }
