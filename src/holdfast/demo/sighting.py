"""A look into a ledger: every target as it stands, above all what was in hand at a death.

SQLite files are copied and the copy is opened: the first to open a dead process's ledger also mends it, and that must
be left to the process that is being tested. While others still work, the copy is SQLite's own backup: one instant.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast import wiring
from holdfast.audit.witness import Seen
from holdfast.config import Settings
from holdfast.model.job import Counts, Job
from holdfast.model.target import TargetRow
from holdfast.ports import Ledger

ROWS_AT_ONCE = 5000
BUSY_S = 10.0
UNSETTLED = ("pending", "in_progress")
ATTEMPTS = "SELECT a.target, count(*) FROM attempt a JOIN chunk c ON c.id = a.chunk WHERE c.job = ? GROUP BY a.target"
# What a dead worker held: still under its name, or put back under its name by the process that found it dead.
HELD_BY = (
    "SELECT l.origin || t.path FROM target t JOIN lane l ON l.id = t.lane JOIN chunk c ON c.id = l.chunk "
    "WHERE c.job = ? AND t.state = 3 AND c.owner_pid = ? UNION "
    "SELECT l.origin || t.path FROM attempt a JOIN target t ON t.id = a.target JOIN lane l ON l.id = t.lane "
    "JOIN chunk c ON c.id = l.chunk WHERE c.job = ? AND a.outcome = 'lost' AND a.worker LIKE ?"
)
CHUNKS_OF = (
    "SELECT id FROM chunk WHERE job = ? AND owner_pid = ? UNION SELECT e.chunk FROM event e JOIN chunk c "
    "ON c.id = e.chunk WHERE c.job = ? AND e.thing = 'chunk' AND e.verb = 'rescue' AND e.because LIKE ?"
)
CHUNK_OF_EACH = "SELECT l.origin || t.path, l.chunk FROM target t JOIN lane l ON l.id = t.lane WHERE t.job = ?"


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A job at one instant. The sets hold URLs."""

    job: Job
    counts: Counts
    seen: tuple[Seen, ...]
    poisoned: int

    @cached_property
    def held(self) -> frozenset[str]:
        return frozenset(row.url for row in self.seen if row.status == "in_progress")

    @cached_property
    def settled(self) -> frozenset[str]:
        return frozenset(row.url for row in self.seen if row.status not in UNSETTLED)

    @property
    def books(self) -> str:
        """`discovered 605 = 603 succeeded + 1 failed + …`; what is in progress is named only while there is some."""
        names = ("succeeded", "failed", "skipped", "cancelled", "pending")
        parts = [f"{getattr(self.counts, name)} {name}" for name in names]
        parts += [f"{self.counts.in_progress} in progress"] if self.counts.in_progress else []
        return f"discovered {self.counts.discovered} = {' + '.join(parts)}"

    @property
    def balances(self) -> bool:
        """Nothing is left, and the parts are the whole: what must hold before anybody says `completed`."""
        return self.counts.left == 0 and self.counts.discovered == self.counts.settled == len(self.seen)


class Fallen(msgspec.Struct, frozen=True, kw_only=True):
    """One worker process that died while others went on: what it held, by the ledger's word, and its chunks."""

    held: frozenset[str]
    chunks: frozenset[int]


def sight(settings: Settings, seed_url: str) -> Sighting | None:
    """The job of this seed as its ledger has it now, worked by nobody; None where there is no such job yet."""
    with looking(settings, live=False) as ledger:
        return _read(ledger, seed_url)


def sight_fallen(settings: Settings, seed_url: str, pid: int) -> tuple[Sighting, Fallen] | None:
    """The same while other workers go on, and what the dead one of this pid left behind."""
    with looking(settings, live=True) as ledger:
        found = [job.id for job in ledger.jobs() if seed_url in job.params["seeds"]]
        if not found:
            return None
        named = (found[-1], pid, found[-1], f"%pid {pid} on %")
        fallen = Fallen(
            held=frozenset(url for (url,) in ledger.query(HELD_BY, named)),
            chunks=frozenset(chunk for (chunk,) in ledger.query(CHUNKS_OF, named)),
        )
        seen = _read(ledger, seed_url)
        return None if seen is None else (seen, fallen)


def chunk_of_each(settings: Settings, job: int) -> dict[str, int]:
    """The chunk of each URL: only the holder of the chunk may fetch it."""
    with looking(settings, live=False) as ledger:
        return dict(ledger.query(CHUNK_OF_EACH, (job,)))


@contextmanager
def looking(settings: Settings, *, live: bool) -> Iterator[Ledger]:
    """A ledger to read, and never the file itself that a process works on, or has died on."""
    with tempfile.TemporaryDirectory(prefix="holdfast-look-") as folder:
        if settings.database_url == "sqlite":
            copied = _backed_up if live else _copied
            settings = copied(settings, Path(folder))
        ledger = wiring.open_ledger(settings)
        try:
            yield ledger
        finally:
            ledger.close()


def _backed_up(settings: Settings, folder: Path) -> Settings:
    """Read-only: the last process to close a ledger also tidies it up, and that must not be us."""
    source = sqlite3.connect(f"file:{settings.ledger_path}?mode=ro", uri=True, timeout=BUSY_S)
    with closing(source), closing(sqlite3.connect(folder / settings.ledger_path.name)) as copy:
        source.backup(copy)
    return replace(settings, data=folder)


def _copied(settings: Settings, folder: Path) -> Settings:
    """Without the -shm: it is only an index of the -wal, and SQLite makes it anew as after a crash."""
    for suffix in ("", "-wal"):
        source = settings.ledger_path.with_name(settings.ledger_path.name + suffix)
        if source.exists():
            shutil.copyfile(source, folder / source.name)
    return replace(settings, data=folder)


def _read(ledger: Ledger, seed_url: str) -> Sighting | None:
    found = [job for job in ledger.jobs() if seed_url in job.params["seeds"]]
    if not found:
        return None
    job, counts, _ = ledger.books(found[-1].id)
    attempts = dict(ledger.query(ATTEMPTS, (job.id,)))
    rows = _rows(ledger, job.id)
    return Sighting(
        job=job,
        counts=counts,
        seen=tuple(Seen(row.url, row.status, _hex(row.sha256), attempts.get(row.id, 0)) for row in rows),
        poisoned=sum(row.code == "poison" for row in rows),
    )


def _rows(ledger: Ledger, job: int) -> list[TargetRow]:
    rows: list[TargetRow] = []
    while part := ledger.targets(job, after=rows[-1].id if rows else 0, limit=ROWS_AT_ONCE):
        rows += part
    return rows


def _hex(sha256: bytes | None) -> str | None:
    return None if sha256 is None else sha256.hex()
