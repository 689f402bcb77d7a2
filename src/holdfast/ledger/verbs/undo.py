"""Putting settled targets back to pending, each with an undo row that keeps what was overwritten.

As of an earlier commit a target is its row, or the before-image of the oldest undo row beyond that commit. A target put
back begins a new generation: its attempts count from nothing, and earlier attempts, bodies and records stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.ledger.books import add_entry, count
from holdfast.ledger.tx import Row, Tx, marks, padded
from holdfast.ledger.verbs.due_time import AT_ONCE
from holdfast.model.states import TARGET, move, wire_status

# What an undo row keeps. State and settling commit are columns of their own, too: lists as of a commit ask for them.
IMAGE = (
    "state", "disposition", "code", "rule", "because", "gen", "attempts", "deaths", "not_before", "done_chunk",
    "done_no",
)  # fmt: skip
IMAGED = ", ".join(("t.id", "t.lane", "t.type", *(f"t.{name}" for name in IMAGE)))
TARGET_VERBS = {"retry": "requeue", "rescan": "rescan", "restart": "rescan", "mend": "rescan", "requeue": "requeue"}
IDS_PER_STATEMENT = 256


def put_back(tx: Tx, control: tuple[int, int, int], verb: str, rows: Sequence[Row], *, actor: str) -> None:
    """Targets (rows of IMAGED) as one numbered commit of the control chunk: pending again, as a new generation."""
    chunk, no, epoch = control
    add_entry(tx, chunk, no, epoch, verb, n=len(rows))
    keep(tx, control, verb, rows, actor=actor)
    _renew(tx, [row[0] for row in rows])
    for row in rows:
        move(TARGET, wire_status(row[3]), TARGET_VERBS[verb])
        recount(tx, chunk, row, "pending", "")
    wake(tx, Counter(row[1] for row in rows))


def begin_anew(tx: Tx, control: tuple[int, int, int], verb: str, rows: Sequence[Row], *, actor: str) -> None:
    """Pending targets that were tried: ready, as a new generation. Their lanes have no more to do than before."""
    chunk, no, epoch = control
    add_entry(tx, chunk, no, epoch, verb, n=len(rows))
    keep(tx, control, verb, rows, actor=actor)
    _renew(tx, [row[0] for row in rows])
    wake(tx, Counter(dict.fromkeys((row[1] for row in rows), 0)))


def _renew(tx: Tx, ids: Sequence[int]) -> None:
    for start in range(0, len(ids), IDS_PER_STATEMENT):
        part = padded(ids[start : start + IDS_PER_STATEMENT])
        tx.run(
            "UPDATE target SET state = 0, gen = gen + 1, attempts = 0, deaths = 0, disposition = NULL, code = NULL, "
            "rule = NULL, because = NULL, not_before = NULL, done_chunk = NULL, done_no = NULL "
            f"WHERE id IN ({marks(part)})",
            part,
        )


def keep(tx: Tx, control: tuple[int, int, int], verb: str, rows: Sequence[Row], *, actor: str) -> None:
    """The before-images, under the commit that overwrites them."""
    chunk, no, _ = control
    tx.many(
        "INSERT INTO undo VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(row[0], chunk, no, verb, actor, _image(row), row[3], row[-2], row[-1]) for row in rows],
    )


def _image(row: Row) -> bytes:
    values: dict[str, Any] = dict(zip(IMAGE, row[3:], strict=True))
    return msgspec.json.encode(values)


def recount(tx: Tx, chunk: int, row: Row, status: str, reason: str) -> None:
    """A row of IMAGED becomes of this status: one less of what it was, one more of what it is."""
    discount(tx, chunk, row)
    count(tx, chunk, row[2], status, reason, 1)


def discount(tx: Tx, chunk: int, row: Row) -> None:
    """One less of what a row of IMAGED is."""
    was = wire_status(row[3])
    count(tx, chunk, row[2], was, reason_of(was, row[4], row[5]), -1)


def reason_of(status: str, disposition: str | None, code: str | None) -> str:
    """What a count is split by: the code of a failure, else the disposition."""
    return {"failed": code, "skipped": disposition, "succeeded": disposition}.get(status) or ""


def wake(tx: Tx, lanes: Counter[int]) -> None:
    """Lanes have so many more to do, at once."""
    tx.many(
        "UPDATE lane SET todo = todo + ?, due = ? WHERE id = ?",
        [(n, AT_ONCE, lane) for lane, n in sorted(lanes.items())],
    )
