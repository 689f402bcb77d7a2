"""Checkpoints as people ask for them, and the lists behind one: queries as of its commit vector, page by page.

A checkpoint stores numbers only. What was found or settled at or before its numbers is a fact that does not change,
so the lists are the same however often they are asked for, also after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.ledger.books import read_checkpoint
from holdfast.ledger.tx import Row, Tx
from holdfast.model.look import CheckpointRow, ListedTarget
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


class _Image(msgspec.Struct):
    """The part of an undo row's before-image that says whether its target was settled, and how."""

    state: int
    done_chunk: int | None
    done_no: int | None


_image_decoder = msgspec.json.Decoder(_Image)
_DONE = "EXISTS (SELECT 1 FROM v WHERE v.chunk = t.done_chunk AND v.no >= t.done_no)"
# What a verb overwrote since: the oldest before-image beyond the vector is how the target stood then.
_SINCE = (
    "FROM undo u JOIN v ON v.chunk = u.chunk JOIN entry e ON e.chunk = u.chunk AND e.no = u.no "
    "WHERE u.target = t.id AND u.no > v.no"
)


def as_of(tx: Tx, job: int, commits: Mapping[str, int], settled: bool, after: int, limit: int) -> list[ListedTarget]:
    """Rows are read until so many fit: of those that were overwritten since only the image can tell."""
    found: list[ListedTarget] = []
    while len(found) < limit:
        rows = _candidates(tx, job, commits, settled, after, limit)
        for row in rows:
            state = _state_then(row, commits)
            if (state is not None) == settled:
                found.append(_listed(row, state))
        if len(rows) < limit:
            break
        after = rows[-1][0]
    return found[:limit]


def _candidates(tx: Tx, job: int, commits: Mapping[str, int], settled: bool, after: int, limit: int) -> list[Row]:
    table, numbers = vector(commits)
    return tx.rows(
        f"{table} SELECT t.id, l.origin || t.path, t.type, t.depth, t.rank, t.parent, t.state, t.done_chunk, "
        f"t.done_no, (SELECT u.before {_SINCE} ORDER BY e.at, u.chunk, u.no LIMIT 1) "
        "FROM target t JOIN lane l ON l.id = t.lane WHERE +t.job = ? AND t.id > ? "
        "AND EXISTS (SELECT 1 FROM v WHERE v.chunk = t.found_chunk AND v.no >= t.found_no) "
        f"AND ({_DONE if settled else f'NOT {_DONE}'} OR EXISTS (SELECT 1 {_SINCE})) ORDER BY t.id LIMIT ?",
        (*numbers, job, after, limit),
    )


def _state_then(row: Row, commits: Mapping[str, int]) -> int | None:
    """The settled state of a target at the vector; None where it was not settled then."""
    state, chunk, no, overwritten = row[6:10]
    if overwritten is not None:
        image = _image_decoder.decode(bytes(overwritten))
        state, chunk, no = image.state, image.done_chunk, image.done_no
    was_done = chunk is not None and no is not None and no <= commits.get(str(chunk), 0)
    return int(state) if was_done else None


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


def vector(commits: Mapping[str, int]) -> tuple[str, list[Any]]:
    """The commit vector as a table of (chunk, no), and its parameters; without chunks it has no row that fits."""
    rows = [(int(chunk), no) for chunk, no in commits.items()] or [(0, 0)]
    values = ", ".join(["(CAST(? AS BIGINT), CAST(? AS BIGINT))"] * len(rows))
    return f"WITH v (chunk, no) AS (VALUES {values})", [number for row in rows for number in row]
