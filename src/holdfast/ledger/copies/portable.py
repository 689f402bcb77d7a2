"""Which tables hold the rows of a job, whose ids stand in them, and how they are read in short slices.

Every table of the schema is in OF_A_JOB or in OF_NO_JOB, and a test says so: a new one cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from holdfast.ledger.tx import Row, Tx, one
from holdfast.model.portable import Shape, Standing

Place = tuple[object, ...]
TARGETS_AT_ONCE = 2_000  # ids of any job, so that a slice is also short in a ledger of many jobs


class Portable(msgspec.Struct, frozen=True):
    """One table. `by`: what its rows belong to; `key`: their order within that; `ids`: column -> whose id it is."""

    table: str
    by: str
    key: tuple[str, ...]
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)


# In the order in which they can be written: nothing refers to what comes later, but by the ids of targets.
OF_A_JOB = (
    Portable("job", "id", ()),
    Portable("run", "job", ("n",), {"id": "run"}),
    Portable("chunk", "job", ("id",), {"id": "chunk"}),
    Portable("plan", "job", (), {"chunk": "chunk"}),
    Portable("phase_plan", "job", ("phase",)),
    Portable("tally", "chunk", ("type", "status", "reason"), {"chunk": "chunk"}),
    Portable("entry", "chunk", ("no",), {"chunk": "chunk"}),
    Portable("event", "chunk", ("seq",), {"chunk": "chunk"}),
    Portable("lane", "chunk", ("phase", "origin"), {"id": "lane", "chunk": "chunk"}),
    Portable("exclusion", "job", ("n",)),
    Portable("consumer", "job", ("name",)),
    Portable("walk", "job", ("id",), {"id": "walk", "cursor": "target"}),
    Portable("checkpoint", "job", ("number",)),
    Portable("segment", "job", ("name",), {"id": "segment"}),
    Portable("named", "target", (), {"target": "target"}),
    Portable(
        "target", "target", (),
        {
            "id": "target", "lane": "lane", "parent": "target", "found_chunk": "chunk", "done_chunk": "chunk",
            "last_chunk": "chunk",
        },
    ),
    Portable("body", "target", ("gen",), {"target": "target", "segment": "segment"}),
    Portable("record", "target", ("gen", "n"), {"target": "target", "chunk": "chunk"}),
    Portable("artifact", "target", ("gen", "n"), {"target": "target", "chunk": "chunk"}),
    Portable("label", "target", (), {"target": "target"}),
    Portable("undo", "target", ("chunk", "no"), {"target": "target", "chunk": "chunk", "done_chunk": "chunk"}),
    Portable("attempt", "chunk", ("no", "target"), {"chunk": "chunk", "target": "target", "prev_chunk": "chunk"}),
    Portable("external_link", "job", ("key",), {"target": "target", "found_chunk": "chunk"}),
)  # fmt: skip
OF_NO_JOB = {
    "ledger": "it is the ledger's own row",
    "host_total": "counted from the rows when a run begins",
    "host": "what a host is owed belongs to all jobs together; a lane names its host",
    "robots": "the same: it is asked for again",
    "visit": "a request under way, and no worker is at work when a job is copied",
}
BY_NAME = {each.table: each for each in OF_A_JOB}
NUMBERED = tuple(each.table for each in OF_A_JOB if "id" in each.ids)  # tables whose rows have ids of their own


def shapes(tx: Tx) -> tuple[Shape, ...]:
    """The tables of a job as this ledger has them."""
    return tuple(Shape(each.table, tx.columns(each.table)) for each in OF_A_JOB)


def standing(tx: Tx, job: int) -> Standing:
    """In one read: whatever is written to a job changes it."""
    row = one(tx, "SELECT id, schema_version FROM ledger")
    jobs = tx.rows("SELECT version, run, active_ms, status FROM job WHERE id = ?", (job,))
    chunks = tx.rows("SELECT id, no, seq, epoch, owner_pid FROM chunk WHERE job = ? ORDER BY id", (job,))
    walks = tx.rows("SELECT id, cursor FROM walk WHERE job = ? ORDER BY id", (job,))
    assert row is not None
    held = any(pid is not None for *_, pid in chunks)
    return Standing(row[0], row[1], held, (*jobs, *chunks, *walks))


def copy_out(tx: Tx, job: int, shape: Shape, after: Place, limit: int) -> tuple[list[Row], Place | None]:
    """The next rows of one table and where to go on; None: these were the last."""
    portable = BY_NAME[shape.table]
    columns = tuple(column.name for column in shape.columns)
    if portable.by == "target":
        return _of_targets(tx, job, portable, columns, after)
    if portable.by == "chunk":
        return _of_chunks(tx, job, portable, columns, after, limit)
    return _of_owner(tx, job, portable, columns, after, limit)


def _of_owner(
    tx: Tx, owner: int, portable: Portable, columns: tuple[str, ...], after: Place, limit: int
) -> tuple[list[Row], Place | None]:
    """Rows of one job, or of one chunk, by key."""
    key = portable.key
    names = ", ".join(key)
    beyond = f" AND ({names}) > ({', '.join('?' * len(key))})" if key and after else ""
    order = f" ORDER BY {names}" if key else ""
    sql = f"SELECT {', '.join(columns)} FROM {portable.table} WHERE {portable.by} = ?{beyond}{order} LIMIT ?"
    rows = tx.rows(sql, (owner, *(after if key else ()), limit))
    if not key or len(rows) < limit:
        return rows, None
    return rows, tuple(rows[-1][columns.index(name)] for name in key)


def _of_chunks(
    tx: Tx, job: int, portable: Portable, columns: tuple[str, ...], after: Place, limit: int
) -> tuple[list[Row], Place | None]:
    """Chunk after chunk: a place is the chunk and the key in it."""
    chunks = [chunk for (chunk,) in tx.rows("SELECT id FROM chunk WHERE job = ? ORDER BY id", (job,))]
    found: list[Row] = []
    for chunk in chunks:
        if after and chunk < after[0]:
            continue
        inside = after[1:] if after and chunk == after[0] else ()
        rows, further = _of_owner(tx, chunk, portable, columns, inside, limit - len(found))
        found += rows
        if further is not None:
            return found, (chunk, *further)
    return found, None


def _of_targets(
    tx: Tx, job: int, portable: Portable, columns: tuple[str, ...], after: Place
) -> tuple[list[Row], Place | None]:
    """Of the targets in the next window of ids. `+` keeps the planner from the index by key."""
    low = int(after[0]) if after else 0  # type: ignore[call-overload]
    high = low + TARGETS_AT_ONCE
    wanted = ", ".join(f"x.{column}" for column in columns)
    joined = "target x" if portable.table == "target" else f"target t JOIN {portable.table} x ON x.target = t.id"
    whose = "x" if portable.table == "target" else "t"
    order = ", ".join((f"{whose}.id", *(f"x.{column}" for column in portable.key)))
    rows = tx.rows(
        f"SELECT {wanted} FROM {joined} WHERE +{whose}.job = ? AND {whose}.id > ? AND {whose}.id <= ? ORDER BY {order}",
        (job, low, high),
    )
    [(following,)] = tx.rows("SELECT min(id) FROM target WHERE id > ?", (high,))  # gaps are passed by at once
    return rows, None if following is None else (following - 1,)
