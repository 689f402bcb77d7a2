"""A job's books split into groups, as every surface shows them: the identity holds in each, their sum is the whole."""

from __future__ import annotations

from typing import Any

from holdfast.model.job import Job
from holdfast.model.states import COUNTED
from holdfast.ports import Surveys

GROUPINGS = ("host", "code", "disposition", "depth", "chunk")


def breakdown_document(ledger: Surveys, job: Job, by: str) -> dict[str, Any]:
    """One group per value, in order; what has none of that kind is the group null."""
    groups: dict[str | None, dict[str, int]] = {}
    for group, status, n in ledger.breakdown(job.id, by):
        groups.setdefault(group, dict.fromkeys(COUNTED, 0))[status] += n
    rows = [{"group": group, "discovered": sum(parts.values()), **parts} for group, parts in groups.items()]
    return {"schema": "holdfast.breakdown/1", "job": job.uid, "name": job.name, "by": by, "groups": rows}
