"""What happened to a job since one last looked, as `--jsonl` shows it: moves, targets at their end, checkpoints.

Each look costs what changed, and no clock has a say: moves come behind the numbers that their chunks' events have,
targets behind a bookmark, checkpoints behind a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.clock import iso
from holdfast.engine.history import event_document, every_event, kinds_of
from holdfast.model.bookmark import Ended
from holdfast.model.job import Job
from holdfast.model.look import EventRow
from holdfast.ports import Ledger

MOVES = kinds_of(("run.started", "run.finished", "exclusion.added", "lease.rescued"))


class News:
    """Begins with what happens after it was made. A look that fails has told nothing: the next one tells it."""

    def __init__(self, ledger: Ledger, job: Job) -> None:
        self._ledger, self._job = ledger, job
        self._mark = ledger.everything(job.id)
        self._told: dict[int, int] = {}  # chunk -> the number of its last move
        self._moves()
        points = ledger.checkpoints(job.id, limit=1)
        self._checkpoint = points[0].number if points else 0

    def look(self) -> Iterator[dict[str, Any]]:
        """In the order of their kinds; within one in the order of time, targets chunk by chunk."""
        yield from map(event_document, self._moves())
        yield from self._new_targets()
        yield from self._new_checkpoints()

    def _moves(self) -> list[EventRow]:
        rows = list(every_event(self._ledger, self._job.id, kinds=MOVES, beyond=self._told))
        self._told.update((row.chunk, row.seq) for row in sorted(rows, key=lambda row: row.seq))
        return rows

    def _new_targets(self) -> Iterator[dict[str, Any]]:
        while True:
            rows, mark = self._ledger.ended(self._job.id, self._mark)
            if mark == self._mark:
                return
            self._mark = mark
            yield from (self._target(row) for row in rows)

    def _new_checkpoints(self) -> Iterator[dict[str, Any]]:
        before: int | None = None
        new = []
        while rows := self._ledger.checkpoints(self._job.id, before=before, limit=20):
            new += [row for row in rows if row.number > self._checkpoint]
            before = rows[-1].number
            if before <= self._checkpoint:
                break
        for row in reversed(new):
            self._checkpoint = row.number
            reason = None if row.point is None else row.point.reason
            yield {**self._head("checkpoint.written", row.at), "number": row.number, "reason": reason}

    def _target(self, row: Ended) -> dict[str, Any]:
        return {
            "id": f"C-{row.chunk:x}.{row.no}.T-{row.target:x}",
            **self._head(f"target.{row.outcome}", row.at),
            "target": f"T-{row.target:x}",
            "url": row.url,
            "disposition": row.disposition,
            "code": row.code,
            "status_code": row.status_code,
            "because": row.message,
            "attempt": row.attempt,
        }

    def _head(self, type_: str, at: int) -> dict[str, Any]:
        return {"type": type_, "at": iso(at), "job": self._job.uid, "name": self._job.name}
