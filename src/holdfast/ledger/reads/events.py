"""History as people ask for it: events of one job or of all, with the beginnings and ends of runs among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.ledger.tx import Tx, one
from holdfast.model.look import EventKind, EventPlace, EventRow

_NAMES = (
    "job", "uid", "name", "chunk", "seq", "at", "actor", "thing", "verb", "source", "target", "because",
)  # fmt: skip
# A run has no event rows of its own: its row tells both. They stand where no chunk is, under minus the job.
_EVERYTHING = (
    "SELECT c.job AS job, e.chunk AS chunk, e.seq AS seq, e.at AS at, e.actor AS actor, e.thing AS thing, "
    "e.verb AS verb, e.source AS source, e.target AS target, e.because AS because "
    "FROM event e JOIN chunk c ON c.id = e.chunk "
    "UNION ALL SELECT r.job, -r.job, 2 * r.n, r.started_at, r.trigger, 'run', 'start', '', 'in_progress', r.mode "
    "FROM run r "
    "UNION ALL SELECT r.job, -r.job, 2 * r.n + 1, r.ended_at, r.trigger, 'run', 'finish', 'in_progress', r.status, "
    "coalesce(r.stop_reason, '') FROM run r WHERE r.ended_at IS NOT NULL"
)


class EventFilter(msgspec.Struct, frozen=True):
    """Which events: see ports.Looks.events."""

    job: int | None
    since: int
    kinds: tuple[EventKind, ...]
    without: tuple[EventKind, ...]
    after: EventPlace | None
    limit: int
    newest: bool
    beyond: Mapping[int, int]


def events(tx: Tx, wanted: EventFilter) -> list[EventRow]:
    clauses, parameters = ["x.at >= ?"], [wanted.since]
    more: list[Any] = []
    if wanted.job is not None:
        clauses.append("x.job = ?")
        more.append(wanted.job)
    for kinds, negation in ((wanted.kinds, ""), (wanted.without, "NOT ")):
        if kinds:
            clauses.append(f"{negation}({' OR '.join(['(x.thing = ? AND x.verb = ?)'] * len(kinds))})")
            more.extend(word for kind in kinds for word in kind)
    if wanted.after is not None:
        clauses.append("(x.at, x.chunk, x.seq) > (?, ?, ?)")
        more.extend(wanted.after)
    for known in wanted.beyond.items():
        clauses.append("NOT (x.chunk = ? AND x.seq <= ?)")
        more.extend(known)
    way = "DESC" if wanted.newest else "ASC"
    rows = tx.rows(
        "SELECT x.job, j.uid, j.name, x.chunk, x.seq, x.at, x.actor, x.thing, x.verb, x.source, x.target, x.because "
        f"FROM ({_EVERYTHING}) x JOIN job j ON j.id = x.job WHERE {' AND '.join(clauses)} "
        f"ORDER BY x.at {way}, x.chunk {way}, x.seq {way} LIMIT ?",
        (*parameters, *more, wanted.limit),
    )
    found = [EventRow(**dict(zip(_NAMES, row, strict=True))) for row in rows]
    return found[::-1] if wanted.newest else found


def pulse(tx: Tx, job: int) -> int:
    """By the last entries of each chunk, whose numbers have no gaps: behind a rescue stands what it rescued from."""
    row = one(
        tx,
        "SELECT coalesce(max(e.at), 0) FROM chunk c JOIN entry e ON e.chunk = c.id AND e.no >= c.no - 1 "
        "WHERE c.job = ? AND e.verb <> 'rescue'",
        (job,),
    )
    return 0 if row is None else int(row[0])
