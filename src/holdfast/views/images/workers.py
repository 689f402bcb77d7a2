"""Which worker held the chunk of a keyword last, and how often one of them died with it: read from the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.model.job import Job
from holdfast.model.record import Checkpoint
from holdfast.ports import Looks
from holdfast.views.history import every_event

_LEASE, _RESCUE = ("chunk", "lease"), ("chunk", "rescue")


@dataclass(slots=True)
class ChunkWork:
    """A chunk's leases so far; `rescues` counts deaths, which are told and never held against the chunk (PAU-13)."""

    leases: int = 0
    worker: str = ""
    rescues: int = 0
    rescued_at: int | None = None

    @property
    def task_id(self) -> str | None:
        """The last task that leased it, counted, since tasks of this computer have no ids of their own (CEL-01)."""
        return f"local:{self.leases}" if self.leases else None

    def document(self) -> dict[str, Any]:
        host = self.worker.partition(" on ")[2]
        return {"worker_id": self.worker or None, "queue_name": "local", "priority": 0, "hostname": host or None}


def worked(looks: Looks, job: Job, point: Checkpoint | None) -> dict[int, ChunkWork]:
    """By chunk; as of a checkpoint what had happened when it was written."""
    found: dict[int, ChunkWork] = {}
    for event in every_event(looks, job.id, kinds=(_LEASE, _RESCUE)):
        if point is not None and event.at > point.at:
            break
        one = found.setdefault(event.chunk, ChunkWork())
        if event.verb == "lease":
            one.leases, one.worker = one.leases + 1, event.actor
        else:
            one.rescues, one.rescued_at = one.rescues + 1, event.at
    return found
