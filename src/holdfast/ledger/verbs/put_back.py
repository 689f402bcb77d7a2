"""Puts back what ended leases held, in the transaction that ends them: a rescue or a release.

Lanes and hosts are written at the end, each once and by id, however many chunks there are: a settle of another worker
may want the same rows in that order.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from holdfast.ledger.books import count
from holdfast.ledger.tx import NO_HOST, Tx
from holdfast.ledger.verbs.due_time import AT_ONCE
from holdfast.model.states import State
from holdfast.policy.recovery import Rescue

NAMES = ("id", "lane", "host", "type", "gen", "attempts", "deaths", "alone", "tried_at", "last_chunk", "last_no")
COLUMNS = "t.id, t.lane, l.host, t.type, t.gen, t.attempts, t.deaths, t.alone, t.tried_at, t.last_chunk, t.last_no"


def held_rows(tx: Tx, chunk: int) -> list[dict[str, Any]]:
    """Targets that are held in this chunk, by id."""
    rows = tx.rows(
        f"SELECT {COLUMNS} FROM target t CROSS JOIN lane l WHERE t.state = 3 AND l.id = t.lane AND l.chunk = ?",
        (chunk,),
    )
    # Sorted here: ordered by id, SQLite would walk the whole table instead of the tiny index of held targets.
    return [dict(zip(NAMES, row, strict=True)) for row in sorted(rows)]


class PutBack:
    """Targets and slots of ended leases to be put back; call `write` when all are taken."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._held: Counter[int] = Counter()  # lane -> targets no longer held
        self._todo: Counter[int] = Counter()  # lane -> of these, pending again
        self._slots: Counter[int] = Counter()  # host -> slots freed

    def put_back(
        self, commit: tuple[int, int], held: dict[str, Any], ruling: Rescue, *, outcome: str, worker: str, because: str
    ) -> None:
        """One target, with the attempt that ended so."""
        tx, now, (chunk, no) = self._tx, self._tx.wall(), commit
        failed = ruling.state == State.FAILED
        tx.run(
            "UPDATE target SET state = ?, code = ?, because = ?, attempts = attempts - ?, deaths = ?, "
            "held_epoch = NULL, alone = 0, last_chunk = ?, last_no = ?, done_chunk = ?, done_no = ? WHERE id = ?",
            (
                int(ruling.state), "poison" if failed else None, because, int(ruling.refund), ruling.deaths, chunk, no,
                chunk if failed else None, no if failed else None, held["id"],
            ),
        )  # fmt: skip
        tx.run(
            "INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 0, ?, ?)",
            (
                chunk, no, held["id"], held["gen"], held["attempts"], worker, held["tried_at"], now, outcome,
                int(ruling.refund),
                "poison" if failed else None, because, held["last_chunk"], held["last_no"],
            ),
        )  # fmt: skip
        self._held[held["lane"]] += 1
        self._todo[held["lane"]] += 0 if failed else 1
        self._slots[held["host"]] += 1
        count(tx, chunk, held["type"], "in_progress", "", -1)
        count(tx, chunk, held["type"], "failed" if failed else "pending", "poison" if failed else "", 1)

    def end_visits(self, chunk: int) -> None:
        """Turns at other hosts that were taken under the lease; the chunk's row is locked."""
        for (host,) in self._tx.rows("DELETE FROM visit WHERE chunk = ? RETURNING host", (chunk,)):
            self._slots[host] += 1

    def write(self) -> None:
        now = self._tx.wall()
        self._tx.many(
            "UPDATE lane SET held = held - ?, todo = todo + ?, due = CASE WHEN due > ? THEN ? ELSE due END "
            "WHERE id = ?",
            [(self._held[lane], self._todo[lane], now, AT_ONCE, lane) for lane in sorted(self._held)],
        )
        self._tx.many(
            "UPDATE host SET busy = busy - ? WHERE id = ?",
            [(self._slots[host], host) for host in sorted(self._slots) if host != NO_HOST],
        )
