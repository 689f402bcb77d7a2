"""A job's books split into groups, as every surface shows them: the identity holds in each, their sum is the whole."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.model.states import COUNTED
from holdfast.ports import Surveys
from holdfast.recipes.catalogue import every_kind, kind_of

GROUPINGS = ("host", "code", "disposition", "depth", "chunk")


def groupings() -> tuple[str, ...]:
    """Every word that the books of some job can be split by: those of all kinds, and what single kinds call theirs."""
    return (*GROUPINGS, *(word for kind in every_kind() for word in kind.breakdowns))


def breakdown_document(ledger: Surveys, job: Job, by: str) -> dict[str, Any]:
    """One group per value, in order; what has none of that kind is the group null."""
    kind = kind_of(job)
    if by in kind.breakdowns and kind.views:
        rows = import_module(f"holdfast.views.{kind.views}.breakdown").groups(ledger, job, by)
        return _document(job, by, rows)
    column = kind.breakdowns.get(by, by)
    if column not in GROUPINGS:
        raise BadParams(f"{job.name} cannot be split by {by}", hint=f"--by {' '.join((*GROUPINGS, *kind.breakdowns))}")
    names = {f"C-{chunk:x}": name for chunk, name in ledger.chunk_names(job.id).items()} if column == "chunk" else {}
    groups: dict[str | None, dict[str, int]] = {}
    for group, status, n in ledger.breakdown(job.id, column):
        group = names.get(group or "") or group
        groups.setdefault(group, dict.fromkeys(COUNTED, 0))[status] += n
    rows = [{"group": group, "discovered": sum(parts.values()), **parts} for group, parts in groups.items()]
    return _document(job, by, rows)


def _document(job: Job, by: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"schema": "holdfast.breakdown/1", "job": job.uid, "name": job.name, "by": by, "groups": rows}
