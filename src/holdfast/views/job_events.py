"""What happened to a job since one last looked, as `--jsonl` shows it: moves, targets at their end, checkpoints.

Each look costs what changed, and no clock has a say in what is told: moves come behind the numbers that their chunks'
events have, targets behind a bookmark, checkpoints behind a number. What one look finds is told in the order of time,
and whatever the clocks say, nothing of a chunk before what it committed earlier, and the end of a run behind that run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import accumulate
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.clock import iso
from holdfast.model.bookmark import EndedTarget
from holdfast.model.job import Job
from holdfast.model.look import CheckpointRow, EventRow
from holdfast.ports import Ledger
from holdfast.views.history import event_document, every_event, kinds_of

MOVES = kinds_of(("run.started", "run.finished", "exclusion.added", "lease.rescued"))


# Of what happened in one millisecond: other moves first, then targets, then these.
RANKS = {"checkpoint.written": 2, "run.finished": 3}
TARGET_RANK = 1


class DatedEvent(msgspec.Struct, frozen=True):
    """An event, and when it is told: in the moment of `when`, and never before what its stream has before it."""

    stream: tuple[str, int]
    when: tuple[int, int]  # milliseconds and rank
    event: dict[str, Any]


class JobEvents:
    """Begins with what happens after it was made. A look that fails has told nothing: the next one tells it."""

    def __init__(self, ledger: Ledger, job: Job) -> None:
        self._ledger, self._job = ledger, job
        self._mark = ledger.everything(job.id)
        self._told: dict[int, int] = {}  # chunk -> the number of its last move
        self._untold: list[DatedEvent] = []
        self._moves()
        points = ledger.checkpoints(job.id, limit=1)
        self._checkpoint = points[0].number if points else 0

    def look(self) -> list[dict[str, Any]]:
        """All that is new, read until no move came in between.

        So the beginning of every run that has a target here is here or told, and so is every target of an ended run.
        """
        moves = self._moves()
        while True:
            self._untold += map(_move, moves)
            self._untold += map(self._target, self._new_targets())
            self._untold += map(self._point, self._new_checkpoints())
            moves = self._moves()
            if not moves:
                break
        found, self._untold = self._untold, []
        return [each.event for each in in_order(found)]

    def _moves(self) -> list[EventRow]:
        rows = list(every_event(self._ledger, self._job.id, kinds=MOVES, beyond=self._told))
        rows.sort(key=lambda row: row.seq)
        self._told.update((row.chunk, row.seq) for row in rows)
        return rows

    def _new_targets(self) -> Iterator[EndedTarget]:
        while True:
            rows, mark = self._ledger.ended(self._job.id, self._mark)
            if mark == self._mark:
                return
            self._mark = mark
            yield from sorted(rows, key=lambda row: (row.no, row.at))

    def _new_checkpoints(self) -> list[CheckpointRow]:
        before: int | None = None
        new: list[CheckpointRow] = []
        while rows := self._ledger.checkpoints(self._job.id, before=before, limit=20):
            new += [row for row in rows if row.number > self._checkpoint]
            before = rows[-1].number
            if before <= self._checkpoint:
                break
        if new:
            self._checkpoint = new[0].number
        return new[::-1]

    def _point(self, row: CheckpointRow) -> DatedEvent:
        reason = None if row.point is None else row.point.reason
        event = {**self._head("checkpoint.written", row.at), "number": row.number, "reason": reason}
        return DatedEvent(("checkpoints", 0), (row.at, RANKS["checkpoint.written"]), event)

    def _target(self, row: EndedTarget) -> DatedEvent:
        event = {
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
        return DatedEvent(("targets", row.chunk), (row.at, TARGET_RANK), event)

    def _head(self, type_: str, at: int) -> dict[str, Any]:
        return {"type": type_, "at": iso(at), "job": self._job.uid, "name": self._job.name}


def _move(row: EventRow) -> DatedEvent:
    event = event_document(row)
    return DatedEvent(("moves", row.chunk), (row.at, RANKS.get(event["type"], 0)), event)


def in_order(found: Iterable[DatedEvent]) -> list[DatedEvent]:
    """Streams merged by time. A clock that is set back, or another computer's, moves nothing within its stream."""
    streams: dict[tuple[str, int], list[DatedEvent]] = defaultdict(list)
    for each in found:
        streams[each.stream].append(each)
    rising = [accumulate(rows, _not_before) for rows in streams.values()]
    return _ending_last(list(merge(*rising, key=attrgetter("when"))))


def _not_before(earlier: DatedEvent, each: DatedEvent) -> DatedEvent:
    return each if each.when >= earlier.when else replace(each, when=earlier.when)


def _ending_last(told: list[DatedEvent]) -> list[DatedEvent]:
    """The end of a run comes after all of its targets: a reader that stops there has read every one."""
    runs = [n for n, each in enumerate(told) if each.event["type"] in ("run.started", "run.finished")]
    if runs and told[runs[-1]].event["type"] == "run.finished":
        told.append(told.pop(runs[-1]))
    return told
