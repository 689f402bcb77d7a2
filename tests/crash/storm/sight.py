"""The rows of one job as they stand between two steps, read past the ledger's own views. Judges nothing."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from holdfast.model.states import wire_status
from oracle.state import MemoryStore

SETTLED = ("succeeded", "skipped", "failed")
TARGETS = (
    "SELECT t.id, l.origin || t.path, t.state, t.code, t.disposition, t.gen, t.deaths, t.done_chunk, t.done_no, "
    "coalesce(a.tries, 0), coalesce(a.ends, 0) FROM target t JOIN lane l ON l.id = t.lane LEFT JOIN (SELECT target, "
    "count(*) AS tries, sum(outcome IN ('succeeded', 'skipped', 'failed')) AS ends FROM attempt GROUP BY target) a "
    "ON a.target = t.id WHERE t.job = ?"
)


@dataclass(frozen=True, slots=True)
class TargetSeen:
    """A target; `tries` are its attempt rows of all generations, `ends` those among them that settled it."""

    url: str
    status: str
    code: str | None
    disposition: str | None
    generation: int
    deaths: int
    done: tuple[int | None, int | None]
    tries: int
    ends: int

    @property
    def claims(self) -> int:
        """How often it was claimed so far: attempts are rows when they end, until then it is in hand."""
        return self.tries + (self.status == "in_progress")


@dataclass(frozen=True, slots=True)
class Sight:
    """`owners` has (epoch, pid) of each chunk, pid None where nobody holds it."""

    status: str
    requested: str | None
    targets: dict[int, TargetSeen]
    owners: dict[int, tuple[int, int | None]]

    @property
    def claims(self) -> int:
        return sum(row.claims for row in self.targets.values())

    @property
    def is_open(self) -> bool:
        """Whether something may be claimed now."""
        return self.status == "in_progress" and self.requested is None

    def results(self) -> set[tuple[str, str, str | None, str | None]]:
        return {(row.url, row.status, row.code, row.disposition) for row in self.targets.values()}


class Eyes(Protocol):
    """`is_legal`: the laws of `audit/` can be asked for, which are SQL."""

    is_legal: bool

    def look(self, job: int) -> Sight: ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A read of the rows."""

    def has_changed(self) -> bool:
        """Whether somebody wrote since this was asked last."""

    def close(self) -> None: ...


class SqlEyes:
    """A connection of its own, past the ledger's code."""

    is_legal = True

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._version = 0

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def has_changed(self) -> bool:
        before, [(self._version,)] = self._version, self.query("PRAGMA data_version")
        return self._version != before

    def look(self, job: int) -> Sight:
        [(status, requested)] = self.query("SELECT status, requested FROM job WHERE id = ?", (job,))
        targets = {
            row[0]: TargetSeen(
                row[1], wire_status(row[2]), row[3] if wire_status(row[2]) == "failed" else None, row[4], row[5],
                row[6], (row[7], row[8]), row[9], row[10],
            )
            for row in self.query(TARGETS, (job,))
        }  # fmt: skip
        chunks = self.query("SELECT id, epoch, owner_pid FROM chunk WHERE job = ?", (job,))
        return Sight(status, requested, targets, {chunk: (epoch, pid) for chunk, epoch, pid in chunks})

    def close(self) -> None:
        self._connection.close()


class MemoryEyes:
    is_legal = False

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def has_changed(self) -> bool:
        return True

    def look(self, job: int) -> Sight:
        tables = self._store.tables
        tries = Counter(row.target for row in tables.attempts.values())
        ends = Counter(row.target for row in tables.attempts.values() if row.outcome in SETTLED)
        targets = {
            row.id: TargetSeen(
                row.url, wire_status(row.state), row.code if wire_status(row.state) == "failed" else None,
                row.disposition, row.generation, row.deaths, row.settled_by or (None, None), tries[row.id],
                ends[row.id],
            )
            for row in tables.targets.values()
        }  # fmt: skip
        owners = {chunk.id: (chunk.epoch, chunk.owner and chunk.owner.pid) for chunk in tables.chunks.values()}
        return Sight(tables.jobs[job].status, tables.jobs[job].requested, targets, owners)

    def close(self) -> None:
        """Nothing to let go of."""
