"""Puts back what ended leases held, in the transaction that ends them: a rescue or a release.

Targets, lanes and hosts are written at the end, each once and by id, however many chunks there are: a settle of another
worker may want the same rows in that order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.ledger.books import count
from holdfast.ledger.tx import NO_HOST, Tx
from holdfast.ledger.verbs.due_time import AT_ONCE
from holdfast.model.lease import Owner
from holdfast.model.states import State
from holdfast.policy.recovery import Rescue

NAMES = ("id", "lane", "host", "type", "gen", "attempts", "deaths", "alone", "tried_at", "last_chunk", "last_no")
COLUMNS = "t.id, t.lane, l.host, t.type, t.gen, t.attempts, t.deaths, t.alone, t.tried_at, t.last_chunk, t.last_no"


def held_rows(tx: Tx, chunks: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Targets that are held in these chunks, of each by id: read at once, for each look passes everything held."""
    found: dict[int, list[dict[str, Any]]] = {chunk: [] for chunk in chunks}
    condition, parameters = tx.among(chunks)
    rows = tx.rows(
        f"SELECT {COLUMNS}, l.chunk FROM target t CROSS JOIN lane l "
        f"WHERE t.state = 3 AND l.id = t.lane AND l.chunk {condition}",
        parameters,
    )
    # Sorted here: ordered by id, SQLite would walk the whole table instead of the tiny index of held targets.
    for row in sorted(rows):
        found[row[-1]].append(dict(zip(NAMES, row[:-1], strict=True)))
    return found


class PutBack:
    """Targets and slots of ended leases to be put back; call `write` when all are taken.

    `owners` are those of the chunks that may be ended, by chunk: their rows are locked.
    """

    def __init__(self, tx: Tx, owners: Mapping[int, Owner | None]) -> None:
        self._tx, self._owners = tx, owners
        self._rows: dict[int, list[dict[str, Any]]] = {}
        self._targets: list[tuple[Any, ...]] = []
        self._attempts: list[tuple[Any, ...]] = []
        self._held: Counter[int] = Counter()  # lane -> targets no longer held
        self._todo: Counter[int] = Counter()  # lane -> of these, pending again
        self._slots: Counter[int] = Counter()  # host -> slots freed

    def held(self, chunk: int) -> list[dict[str, Any]]:
        """What is held in a chunk: with the first of an owner all of its chunks are read."""
        if chunk not in self._rows:
            owner = self._owners[chunk]
            self._rows |= held_rows(self._tx, [one for one, its in self._owners.items() if its == owner])
        return self._rows[chunk]

    def put_back(
        self, commit: tuple[int, int], held: dict[str, Any], ruling: Rescue, *, outcome: str, worker: str, because: str
    ) -> None:
        """One target, with the attempt that ended so."""
        tx, now, (chunk, no) = self._tx, self._tx.wall(), commit
        failed = ruling.state == State.FAILED
        self._targets.append(
            (
                int(ruling.state), "poison" if failed else None, because, int(ruling.refund), ruling.deaths, chunk, no,
                chunk if failed else None, no if failed else None, held["id"],
            )
        )  # fmt: skip
        self._attempts.append(
            (
                chunk, no, held["id"], held["gen"], held["attempts"], worker, held["tried_at"], now, outcome,
                int(ruling.refund),
                "poison" if failed else None, because, held["last_chunk"], held["last_no"],
            )
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
        """In a few statements: one for each of thousands of targets is a round trip each to a server."""
        now = self._tx.wall()
        self._tx.many(
            "UPDATE target SET state = ?, code = ?, because = ?, attempts = attempts - ?, deaths = ?, "
            "held_epoch = NULL, alone = 0, last_chunk = ?, last_no = ?, done_chunk = ?, done_no = ? WHERE id = ?",
            self._targets,
        )
        self._tx.many("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 0, ?, ?)", self._attempts)
        self._tx.many(
            "UPDATE lane SET held = held - ?, todo = todo + ?, due = CASE WHEN due > ? THEN ? ELSE due END "
            "WHERE id = ?",
            [(self._held[lane], self._todo[lane], now, AT_ONCE, lane) for lane in sorted(self._held)],
        )
        self._tx.many(
            "UPDATE host SET busy = busy - ? WHERE id = ?",
            [(self._slots[host], host) for host in sorted(self._slots) if host != NO_HOST],
        )
