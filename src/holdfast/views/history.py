"""Events and checkpoints as every surface shows them: types, documents, and the pages that lead through them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from holdfast.clock import iso
from holdfast.errors import BadParams, NotFound
from holdfast.model.job import Job
from holdfast.model.look import NOTHING_KNOWN, CheckpointRow, EventKind, EventRow, ListedTarget
from holdfast.model.record import Checkpoint
from holdfast.model.states import JOB
from holdfast.ports import Looks

ROWS_AT_ONCE = 500
ENTITIES, SECTION = "entities", "section"  # types of targets that later phases of a site make
CHECKPOINT_SCHEMA_VERSION = 1
# The types of ux 5.1 and the moves behind them. Any other verb is its own type: `job.amend`, `chunk.lease`.
KINDS: dict[str, tuple[EventKind, ...]] = {
    "job.status": (("job", "submit"), *(("job", verb) for verb in JOB.verbs() if verb != "rollback")),
    "job.rolled_back": (("job", "rollback"),),
    "job.requested": (("job", "request_pause"), ("job", "request_cancel")),
    "run.started": (("run", "start"),),
    "run.finished": (("run", "finish"),),
    "phase.changed": (("phase", "advance"),),
    "exclusion.added": (("job", "exclude"),),
    "lease.rescued": (("chunk", "rescue"),),
}
OWN_TYPES = (
    "job.amend", "job.include", "job.limit", "job.set_aside", "job.label", "job.restore", "chunk.lease",
    "chunk.release",
)  # fmt: skip
TYPES = (*KINDS, *OWN_TYPES)


class _Counted(msgspec.Struct):
    count: int


_count = msgspec.json.Decoder(_Counted)
_TYPE_OF = {kind: name for name, kinds in KINDS.items() for kind in kinds}


def type_of(row: EventRow) -> str:
    return _TYPE_OF.get((row.thing, row.verb), f"{row.thing}.{row.verb}")


def kinds_of(types: Sequence[str]) -> list[EventKind]:
    """The moves behind these types; BadParams names what there is."""
    found: list[EventKind] = []
    for name in types:
        if name not in TYPES:
            near = get_close_matches(name, TYPES, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise BadParams(f"no event has the type {name!r}{guess}", hint=f"types: {' '.join(TYPES)}")
        thing, _, verb = name.partition(".")
        found += KINDS.get(name, ((thing, verb),))
    return found


def event_document(row: EventRow) -> dict[str, Any]:
    """The fields of ux 5.2, in their order."""
    return {
        "id": f"R-{row.seq // 2}.{row.seq % 2}" if row.thing == "run" else f"C-{row.chunk:x}.{row.seq}",
        "at": iso(row.at),
        "type": type_of(row),
        "actor": row.actor,
        "job": row.uid,
        "name": row.name,
        "verb": row.verb,
        "from": row.source or None,
        "to": row.target,
        "because": row.because or None,
    }


def every_event(
    looks: Looks,
    job: int | None,
    *,
    since: int = 0,
    kinds: Sequence[EventKind],
    beyond: Mapping[int, int] = NOTHING_KNOWN,
) -> Iterator[EventRow]:
    """All events in the order of time, page by page."""
    place = None
    while rows := looks.events(job, since=since, kinds=kinds, beyond=beyond, after=place, limit=ROWS_AT_ONCE):
        yield from rows
        place = rows[-1].place


def every_checkpoint(looks: Looks, job: int, *, before: int | None = None) -> Iterator[CheckpointRow]:
    """Newest first."""
    while rows := looks.checkpoints(job, before=before, limit=ROWS_AT_ONCE):
        yield from rows
        before = rows[-1].number


def whole_checkpoint(looks: Looks, job: Job, number: int) -> Checkpoint:
    """The checkpoint of this number; NotFound where there is none, or it is damaged, or a rollback undid it."""
    row = next(every_checkpoint(looks, job.id, before=number + 1), None)
    if row is None or row.number != number or row.point is None or row.undone_by is not None:
        raise NotFound(
            f"{job.name} has no checkpoint {number} that can be read", hint=f"holdfast checkpoints {job.word}"
        )
    return row.point


def checkpoint_document(row: CheckpointRow) -> dict[str, Any]:
    """The fields of ux 5.2; of a damaged one only what its row says."""
    point = row.point
    return {
        "number": row.number,
        "at": iso(row.at),
        "label": None,
        "reason": None if point is None else point.reason,
        "counts": None if point is None else point.counts.seven(),
        "phase": None if point is None else point.phase,
        "checksum": row.checksum.hex(),
        "previous": None if point is None else point.previous.hex() or None,
        "valid": point is not None,
        "undone_by": row.undone_by,
    }


def checkpoint_head(looks: Looks, job: Job, row: CheckpointRow, point: Checkpoint) -> dict[str, Any]:
    """Everything of a checkpoint's full document but its lists (CHK-03)."""
    made = _made(looks, job, point)
    return {
        "schema": "holdfast.checkpoint/1",
        **checkpoint_document(row),
        "checkpoint_id": f"{job.uid}:{row.number}",
        "job": job.uid,
        "name": job.name,
        "run": f"R-{point.run}" if point.run else None,
        "schema_version": CHECKPOINT_SCHEMA_VERSION,
        "crawl_start_time": iso(job.started_at),
        "active_seconds": round(point.active_ms / 1000, 1),
        "generation": point.generation,
        "cursor": point.cursor,
        "failed_by": point.counts.failed_by,
        "skipped_by": point.counts.skipped_by,
        "commits": point.commits,
        "entities_extracted_count": made.entities,
        "sections": list(made.sections),
        "analysis_sections_completed": list(made.sections),
    }


class Made(msgspec.Struct, frozen=True):
    """What the later phases had come to: how many entities on all pages together, and which sections."""

    entities: int = 0
    sections: tuple[str, ...] = ()


def _made(looks: Looks, job: Job, point: Checkpoint) -> Made:
    """As of the checkpoint's commit numbers, from the rows. A job of one phase made nothing, and nothing is read."""
    if not any(name in point.counts.by_type for name in (ENTITIES, SECTION)):
        return Made()
    done = [row for row in listed(looks, job.id, point, settled=True) if row.status == "succeeded"]
    sections = tuple(row.url.split("/")[1] for row in done if row.type == SECTION)
    pages = {row.id for row in done if row.type == ENTITIES}
    newest: dict[int, int] = {}
    after = (0, 0, -1)
    while rows := looks.generations(job.id, ENTITIES, commits=point.commits, after=after, limit=ROWS_AT_ONCE):
        newest |= {row.target: _count.decode(row.doc).count for row in rows if row.target in pages}
        after = (rows[-1].target, rows[-1].generation, rows[-1].n)
    return Made(sum(newest.values()), sections)


def listed(looks: Looks, job: int, point: Checkpoint, *, settled: bool) -> Iterator[ListedTarget]:
    """What was visited, or still queued, at a checkpoint: all of it, page by page."""
    after = 0
    while rows := looks.as_of(job, point.commits, settled=settled, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id


def links_out(looks: Looks, job: int, point: Checkpoint) -> Iterator[str]:
    """The links out of scope that were known at a checkpoint."""
    after = b""
    while rows := looks.links_out(job, point.commits, after=after, limit=ROWS_AT_ONCE):
        yield from (url for _, url in rows)
        after = rows[-1][0]


def listed_document(row: ListedTarget) -> dict[str, Any]:
    """A line of a checkpoint's lists; while it was queued it has no status."""
    document = {
        "id": f"T-{row.id:x}",
        "url": row.url,
        "type": row.type,
        "depth": row.depth,
        "priority": row.priority,
        "parent": None if row.parent is None else f"T-{row.parent:x}",
    }
    return document if row.status is None else {**document, "status": row.status}
