"""Where a ledger of the frontier benchmark lies: a folder with SQLite, or a PostgreSQL of its own. It fills nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import cpu_s_of
from holdfast import wiring
from holdfast.config import Settings
from holdfast.testing.postgres import start_postgres

ENGINES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@dataclass(frozen=True, slots=True)
class Place:
    """An empty ledger's settings, and how to ask for its bytes and for the CPU of its server (none: SQLite)."""

    settings: Settings
    bytes_stored: Callable[[], int]
    server_cpu_s: Callable[[], float]

    @property
    def output(self) -> Path:
        """Where what Holdfast prints is kept."""
        return self.settings.data.with_suffix(".log")


@contextmanager
def place_for(engine: str, folder: Path) -> Iterator[Place]:
    if engine == "sqlite":
        yield Place(Settings(data=folder), lambda: _file_bytes(folder), lambda: 0.0)
        return
    with start_postgres(folder / "server") as postgres:
        settings = Settings(data=folder / "data", database_url=postgres.url)
        pid = int((folder / "server" / "data" / "postmaster.pid").read_text().splitlines()[0])
        yield Place(settings, lambda: _relation_bytes(settings), lambda: cpu_s_of(pid))


def _file_bytes(folder: Path) -> int:
    """By stat alone. The last connection that closes has brought the log into the file."""
    return sum(path.stat().st_size for path in folder.glob("ledger.db*"))


def _relation_bytes(settings: Settings) -> int:
    """Tables with their indexes."""
    ledger = wiring.open_ledger(settings)
    try:
        [(size,)] = ledger.query(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
    finally:
        ledger.close()
    return int(size)
