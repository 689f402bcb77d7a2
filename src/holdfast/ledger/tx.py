"""One transaction of the ledger, whichever engine runs it. The verbs are written against this and nothing else.

SQL is written with `?` for parameters. What must be told after the commit, and not before, is queued with `after`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from holdfast.model.portable import Column

Row = tuple[Any, ...]
NO_HOST = 0  # the id of the row that stands for no host: its targets need no request, so they wait for no turn
TallyKey = tuple[int, str, str, str]  # chunk, type, status, reason


class Tx(Protocol):
    """A write transaction (or one read snapshot)."""

    boot: str
    tallies: defaultdict[TallyKey, int]  # a Counter is several times slower at `+=`
    lanes: dict[tuple[int, str, str], tuple[int, int]]  # (chunk, phase, origin) -> (lane, host), of this transaction

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...

    def bulk(
        self, columns: Sequence[str], rest: str, parameters: Sequence[Any] = (), *, blob: int | None = None
    ) -> list[Sequence[Any]]:
        """The rows of `SELECT columns rest`, many at once; `blob` is the place of the one column that is bytes.

        SQLite's driver gives the interpreter away and waits to have it back for every row; this costs one wait.
        """

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute; how many rows it touched."""

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Execute for each row; how many rows were touched in all."""

    def wall(self) -> int:
        """The store's wall clock in ms; read once per transaction."""

    def lease_now(self) -> int:
        """The clock that leases are compared by: the database's, or this boot's monotonic one."""

    def is_other_boot(self, owner_boot: str) -> bool:
        """Whether a deadline written under that boot cannot be compared with `lease_now` (its owner is gone)."""

    def insert_targets(self, rows: Sequence[Sequence[Any]]) -> set[bytes]:
        """Insert target rows (columns of TARGET_COLUMNS) whose (job, key) is new; the keys that were new."""

    def lock(self, table: str) -> str:
        """The engine's row lock for a SELECT of that table: wait for it, or empty where a writer is alone."""

    def skip_locked(self) -> str: ...

    def contains(self, column: str) -> str:
        """The engine's condition that a column of bytes contains those of a parameter."""

    def among(self, ids: Sequence[int]) -> tuple[str, Sequence[Any]]:
        """The engine's condition that a column is one of many ids, with its parameters: no driver is to parse each."""

    def take_turns(self, job: int) -> None:
        """From here to the commit, only one transaction of this job; takes no row, so it cannot cross a row lock."""

    def known_lane(self, key: tuple[int, str, str]) -> tuple[int, int] | None:
        """A lane that an earlier, committed transaction of this connection saw."""

    def load(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows as they are, in the quickest way that the engine has."""

    def columns(self, table: str) -> tuple[Column, ...]:
        """The columns of a table, in their order."""


TARGET_COLUMNS = (
    "job, lane, key, path, type, depth, parent, rank, hops, state, disposition, code, rule, because, gen, attempts, "
    "deaths, alone, not_before, tried_at, held_epoch, found_chunk, found_no, done_chunk, done_no, last_chunk, last_no"
)


def one(tx: Tx, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
    rows = tx.rows(sql, parameters)
    return rows[0] if rows else None


def padded(values: Sequence[Any]) -> list[Any]:
    """The values for an IN list, the last one repeated up to a power of two: so there are few different statements."""
    missing = (1 << (len(values) - 1).bit_length()) - len(values) if values else 0
    return [*values, *list(values[-1:]) * missing]


def marks(values: Sequence[Any]) -> str:
    """`?, ?, ?` for an IN list; never empty."""
    return ", ".join("?" * len(values)) if values else "NULL"
