"""What lies in the data folder beside the ledger: bodies, files, logs, the reserve, and what killed commands left."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from holdfast.blobs.artifacts import StoredFiles
from holdfast.blobs.journal import FileJournal, JournalReader
from holdfast.blobs.publish import publish as _publish
from holdfast.blobs.reserve import RESERVE_BYTES, Reserve
from holdfast.blobs.segments import Segments
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.model.job import Job
from holdfast.model.outcome import is_segment
from holdfast.model.states import wire_status
from holdfast.ports import Blobs, Ledger, Recorder
from holdfast.version import __version__
from holdfast.wiring.agent import AGENT

if TYPE_CHECKING:
    from holdfast.blobs.leftovers import Leftovers
    from holdfast.blobs.storage import FolderStorage

CONTINUED = ("pending", "in_progress", "failed")  # targets of which a download that was cut off may go on
MEGABYTE = 1_000_000


def blobs_of(settings: Settings, job: Job) -> Blobs:
    """Where this job's bodies lie; a writer's name is new for every process, so nobody shares a segment."""
    writer = f"{os.getpid():x}-{secrets.token_hex(4)}"
    return Segments(settings.segments, job.uid, writer)


def recorder_of(settings: Settings, job: Job) -> Recorder | None:
    """Where the exchanges of a job are kept that was told to record."""
    if not job.options.record:
        return None
    from holdfast.blobs.recording import Recording

    writer = f"{os.getpid():x}-{secrets.token_hex(4)}"
    segments = Segments(settings.recordings, job.uid, writer)
    return Recording(segments, agent=job.options.user_agent or AGENT)


def storage(settings: Settings, output: Path | None = None) -> FolderStorage:
    """The data folder beside the ledger, for those who read bodies, write files or sort many rows. `output`: where they
    write to, which has room for what does not fit into memory."""
    from holdfast.blobs.storage import FolderStorage

    return FolderStorage(
        settings.data,
        settings.segments,
        settings.artifacts,
        settings.snapshots,
        software=f"holdfast/{__version__}",
        output=output,
    )


def reserve_of(settings: Settings) -> Reserve:
    return Reserve(settings.data / "reserve")


def has_reserve(settings: Settings) -> bool:
    """Whether there is room to write the pause of a job on a disk that fills; it is kept from now on."""
    return reserve_of(settings).keep()


def wanted_mb(settings: Settings) -> float:
    """How much must be free for a job to go on: what the settings want, and never less than the reserve."""
    return max(float(settings.min_free_mb), RESERVE_BYTES / MEGABYTE + 1)


def free_mb(folder: Path) -> float:
    return shutil.disk_usage(folder).free / MEGABYTE


def journal(settings: Settings, job: Job) -> FileJournal:
    """A job's log, to be written to."""
    return FileJournal(settings.logs, job.uid, SystemClock(), debug=settings.log_debug)


def journal_reader(settings: Settings, job: Job) -> JournalReader:
    """A job's log, from its beginning."""
    return JournalReader(settings.logs, job.uid)


def size_of(path: Path) -> int | None:
    """None where there is no such file."""
    return path.stat().st_size if path.is_file() else None


def segment_size(settings: Settings, name: str) -> int | None:
    """None where there is no such segment; whatever else a row may name is not looked at."""
    return size_of(settings.segments / name) if is_segment(name) else None


def files_of(settings: Settings) -> StoredFiles:
    """The files that targets have, to be looked at."""
    return StoredFiles(settings.artifacts)


def leftovers(settings: Settings, ledger: Ledger) -> Leftovers:
    """What killed commands left in the data folder, by the rows of this ledger."""
    from holdfast.blobs.leftovers import Leftovers, Whose

    def is_named(folder: str) -> bool:
        begins = f"{folder}/"
        rows = "SELECT 1 FROM job WHERE uid = ? UNION ALL SELECT 1 FROM segment WHERE substr(name, 1, ?) = ? LIMIT 1"
        return bool(ledger.query(rows, (folder, len(begins), begins)))

    [(own,)] = ledger.query("SELECT id FROM ledger")

    def is_kept(path: str) -> bool:
        of_lists = path.startswith("csv/")  # versions of lists belong to sources, not to targets
        return of_lists or bool(ledger.query("SELECT 1 FROM artifact WHERE path = ? LIMIT 1", (path,)))

    def is_wanted(job: str, target: int) -> bool:
        found = ledger.query(
            "SELECT t.state FROM target t JOIN job j ON j.id = t.job WHERE t.id = ? AND j.uid = ?", (target, job)
        )
        return any(wire_status(state) in CONTINUED for (state,) in found)

    whose = Whose(is_named, is_kept, is_wanted)
    return Leftovers(settings.data, own, whose, is_local=settings.database_url == "sqlite")


def publish(path: Path, write: Callable[[BinaryIO], None], *, ours: bool = False) -> None:
    """Write a file whole or not at all: beside, fsynced, renamed. `ours`: it belongs to the data folder."""
    _publish(path, write, ours=ours)
