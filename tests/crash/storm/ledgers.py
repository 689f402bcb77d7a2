"""Fresh ledgers for thousands of seeds: one SQLite file, emptied and used again, or one in memory.

To open a file and prepare its statements takes longer than a storm. Every ledger has the same salt, so that a seed
gives the same keys, the same ids and the same story each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from conformance.bench import BOOT, Bench, memory_bench
from conformance.probes import MemoryProbe
from crash.storm.sight import Eyes, MemoryEyes, SqlEyes
from holdfast.clock import ManualClock
from holdfast.ledger.sqlite import SqliteLedger, SqliteStore
from holdfast.model.keys import SALT_BYTES
from holdfast.ports import Ledger

CONNECTIONS = 2  # each remembers things of its own, as processes do
SALT = bytes(range(SALT_BYTES))
KINDS = ("SQLite", "memory")
Disguise = Callable[[Ledger], Any]


class LentClock(ManualClock):
    """The clock of whoever uses the file now."""

    def __init__(self) -> None:
        self.lent = ManualClock()

    def wall_ms(self) -> int:
        return self.lent.wall_ms()

    def monotonic_ms(self) -> int:
        return self.lent.monotonic_ms()


class Ledgers:
    """`fresh` is a bench with a ledger that nobody has used, and eyes on its rows; one at a time."""

    def __init__(self, folder: Path) -> None:
        path = folder / "ledger.db"
        self._clock = LentClock()
        self._stores = [SqliteStore(path, self._clock, BOOT) for _ in range(CONNECTIONS)]
        for store in self._stores:
            store.prepare()
        self._ledgers = [SqliteLedger(store) for store in self._stores]
        self._eyes = SqlEyes(path)
        self._sponge = sqlite3.connect(path, isolation_level=None)
        self._sponge.execute("UPDATE ledger SET salt = ?", (SALT,))
        rows = self._sponge.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'ledger'")
        self._tables = [name for (name,) in rows]

    @contextmanager
    def fresh(self, kind: str, disguise: Disguise = lambda ledger: ledger) -> Iterator[tuple[Bench, Eyes]]:
        """`disguise` comes between the ledger and whoever uses it, but not before the eyes."""
        clock = ManualClock()
        if kind == "memory":
            bench = memory_bench(clock, SALT)
            assert isinstance(bench.probe, MemoryProbe)
            yield bench, MemoryEyes(bench.probe.store)
        else:
            self._clock.lent = clock
            self._empty()
            lent = cycle(self._ledgers)
            yield Bench(lambda boot: disguise(next(lent)), clock, boot_bound=True), self._eyes

    def _empty(self) -> None:
        """Ids begin anew, so nobody may remember rows of before."""
        self._sponge.execute("BEGIN IMMEDIATE")
        for name in self._tables:
            self._sponge.execute(f"DELETE FROM {name}")
        self._sponge.execute("COMMIT")
        for store in self._stores:
            store.lanes.clear()

    def close(self) -> None:
        for each in (*self._ledgers, self._eyes, self._sponge):
            each.close()
