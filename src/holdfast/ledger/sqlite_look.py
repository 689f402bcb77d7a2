"""A ledger file in a folder that cannot be written: opened to be looked at, and for nothing else.

A file in WAL mode is read with its -wal and -shm beside it. Without a -wal no process has it open and all of it is
in the file itself; then SQLite is told that the file stays as it is, and after every read we make sure that it did.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.errors import BadParams, LedgerUnavailable, LedgerUnfit
from holdfast.ledger.schema import SCHEMA_VERSION
from holdfast.ledger.sqlite import PRAGMAS, SqliteLedger, SqliteStore, SqliteTx

WITHOUT_WRITING = ("cache_size", "temp_store", "mmap_size", "case_sensitive_like")
COPY_IT = "copy the folder to where it can be written, and name the copy with --data DIR"


class LookStore(SqliteStore):
    """One connection that only reads."""

    def _connect(self, uri: str) -> sqlite3.Connection:
        path = self._path
        self._wal = path.with_name(f"{path.name}-wal")
        if self._wal.exists() and not path.with_name(f"{path.name}-shm").exists():
            raise BadParams(f"{path} cannot be read where nothing can be written: it has a -wal, no -shm", hint=COPY_IT)
        self._stands_still = not self._wal.exists()
        self._seen = _stamp(path)
        return self._opened(f"{uri}?mode=ro{'&immutable=1' * self._stands_still}")

    def prepare(self, *, upgrades: bool = True) -> None:
        """Settings that write nothing, and a check that the schema is this program's: it cannot be upgraded here."""
        try:
            for name in WITHOUT_WRITING:
                self._set(name, PRAGMAS[name])
            version = self._version()
            if version != SCHEMA_VERSION:
                raise LedgerUnfit(
                    f"{self._path.name} has schema {version}, this program reads {SCHEMA_VERSION}, and it cannot be "
                    "upgraded where nothing can be written",
                    hint=COPY_IT,
                )
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def read(self) -> Iterator[SqliteTx]:
        with super().read() as tx:
            yield tx
        if self._stands_still and (self._wal.exists() or _stamp(self._path) != self._seen):
            raise LedgerUnavailable(f"another process began to write {self._path} while it was read; try again")


class LookedAtLedger(SqliteLedger):
    """A write raises: the folder cannot be written."""

    kind_of_store = LookStore


def _stamp(path: Path) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
