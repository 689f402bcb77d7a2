"""A look into a ledger that nobody works: every target as it stands, above all what was in hand at a death.

SQLite files are copied and the copy is opened: the first to open a dead process's ledger also mends it, and that must
be left to the process that is being tested.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from holdfast import wiring
from holdfast.audit.witness import Seen
from holdfast.config import Settings
from holdfast.model.job import Counts, Job
from holdfast.model.target import TargetRow
from holdfast.ports import Ledger

ROWS_AT_ONCE = 5000
UNSETTLED = ("pending", "in_progress")
ATTEMPTS = "SELECT a.target, count(*) FROM attempt a JOIN chunk c ON c.id = a.chunk WHERE c.job = ? GROUP BY a.target"


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


def sight(settings: Settings, seed_url: str) -> Sighting | None:
    """The job of this seed as its ledger has it now; None where the ledger has no such job yet."""
    with tempfile.TemporaryDirectory(prefix="holdfast-look-") as folder:
        if settings.database_url == "sqlite":
            settings = _copied(settings, Path(folder))
        ledger = wiring.open_ledger(settings)
        try:
            return _read(ledger, seed_url)
        finally:
            ledger.close()


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
