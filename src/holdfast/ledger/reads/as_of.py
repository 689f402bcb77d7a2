"""Checkpoints as people ask for them, and the lists behind one: queries as of its commit vector, page by page.

A checkpoint stores numbers only. What was found or settled at or before its numbers is a fact that does not change,
so the lists are the same however often they are asked for, also after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.ledger.books import read_checkpoint
from holdfast.ledger.reads.targets import unsealed
from holdfast.ledger.tx import Row, Tx
from holdfast.model.look import CheckpointRow, Generation, ListedTarget
from holdfast.model.states import wire_status
from holdfast.model.target import RANK_PER_PRIORITY

NEWER_THAN_ANY = 1 << 62


def checkpoints(tx: Tx, job: int, before: int | None, limit: int) -> list[CheckpointRow]:
    rows = tx.rows(
        "SELECT number, at, doc, checksum, undone_by FROM checkpoint WHERE job = ? AND number < ? "
        "ORDER BY number DESC LIMIT ?",
        (job, NEWER_THAN_ANY if before is None else before, limit),
    )
    return [
        CheckpointRow(
            number=number,
            at=at,
            checksum=bytes(checksum),
            point=read_checkpoint(number, bytes(doc), bytes(checksum)),
            undone_by=undone_by,
        )
        for number, at, doc, checksum, undone_by in rows
    ]


_DONE = "EXISTS (SELECT 1 FROM v WHERE v.chunk = t.done_chunk AND v.no >= t.done_no)"
# What a verb overwrote since: of a target's images beyond the vector, only the oldest can have been settled by then.
# So no order is asked for, which clocks that go back and chunks that count apart could not give.
_DONE_THEN = (
    "FROM undo u JOIN v ON v.chunk = u.chunk AND v.no < u.no JOIN v w ON w.chunk = u.done_chunk AND w.no >= u.done_no "
    "WHERE u.target = t.id"
)


def as_of(tx: Tx, job: int, commits: Mapping[str, int], settled: bool, after: int, limit: int) -> list[ListedTarget]:
    table, numbers = vector(commits)
    rows = tx.rows(
        f"{table} SELECT t.id, l.origin || t.path, t.type, t.depth, t.rank, t.parent, "
        f"CASE WHEN {_DONE} THEN t.state ELSE (SELECT u.state {_DONE_THEN} LIMIT 1) END "
        "FROM target t JOIN lane l ON l.id = t.lane WHERE +t.job = ? AND t.id > ? "
        "AND EXISTS (SELECT 1 FROM v WHERE v.chunk = t.found_chunk AND v.no >= t.found_no) "
        f"AND {'' if settled else 'NOT '}({_DONE} OR EXISTS (SELECT 1 {_DONE_THEN})) ORDER BY t.id LIMIT ?",
        (*numbers, job, after, limit),
    )
    return [_listed(row, row[6]) for row in rows]


def _listed(row: Row, state: int | None) -> ListedTarget:
    return ListedTarget(
        id=row[0], url=row[1], type=row[2], depth=row[3], priority=row[4] // RANK_PER_PRIORITY, parent=row[5],
        status=None if state is None else wire_status(state),
    )  # fmt: skip


def links_out(tx: Tx, job: int, commits: Mapping[str, int], after: bytes, limit: int) -> list[tuple[bytes, str]]:
    table, numbers = vector(commits)
    rows = tx.rows(
        f"{table} SELECT x.key, x.url FROM external_link x WHERE x.job = ? AND x.key > ? "
        "AND EXISTS (SELECT 1 FROM v WHERE v.chunk = x.found_chunk AND v.no >= x.found_no) ORDER BY x.key LIMIT ?",
        (*numbers, job, after, limit),
    )
    return [(bytes(key), url) for key, url in rows]


def generations(
    tx: Tx, job: int, kind: str, commits: Mapping[str, int] | None, after: tuple[int, int, int], limit: int
) -> list[Generation]:
    """Records of the targets of one type, of every generation, by (target, generation, n). With commit numbers only
    those that were published by then. Row by row and not as of the newest: an earlier report is read here."""
    table, numbers = vector(commits or {})
    known = "" if commits is None else "AND EXISTS (SELECT 1 FROM v WHERE v.chunk = r.chunk AND v.no >= r.no) "
    rows = tx.rows(
        f"{table} SELECT r.target, r.gen, r.n, r.run, r.doc, r.seal FROM target t JOIN record r ON r.target = t.id "
        f"WHERE +t.job = ? AND t.type = ? {known}AND (r.target, r.gen, r.n) > (?, ?, ?) "
        "ORDER BY r.target, r.gen, r.n LIMIT ?",
        (*numbers, job, kind, *after, limit),
    )
    return [
        Generation(target=row[0], generation=row[1], n=row[2], run=row[3], doc=unsealed(row[0], row[4], row[5]))
        for row in rows
    ]


def vector(commits: Mapping[str, int]) -> tuple[str, list[Any]]:
    """The commit vector as a table of (chunk, no), and its parameters; without chunks it has no row that fits."""
    rows = [(int(chunk), no) for chunk, no in commits.items()] or [(0, 0)]
    values = ", ".join(["(CAST(? AS BIGINT), CAST(? AS BIGINT))"] * len(rows))
    return f"WITH v (chunk, no) AS (VALUES {values})", [number for row in rows for number in row]
