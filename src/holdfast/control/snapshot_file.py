"""Snapshots as files: written whole or not at all, opened, restored, and used to copy a job."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from holdfast.control import snapshot as portable
from holdfast.control.list_store import ListStore
from holdfast.control.restore import RestoreOptions, Snapshot, restore
from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.model.snapshot import Manifest
from holdfast.ports import Ledger, Query, Storage

log = logging.getLogger(__name__)

OF_CHECKPOINTS = "F3."  # the laws whose breach costs a restore point only


def take_snapshot(
    storage: Storage, ledger: Ledger, job: Job, path: Path | None = None, *, with_bodies: bool = True
) -> tuple[Path, Manifest]:
    """Write a job's portable form to a new file: `path`, or a name of its own in a folder."""
    at_ms = SystemClock().wall_ms()
    folder = storage.snapshots / job.uid if path is None else path
    path = folder / f"S-{at_ms:x}.tar" if path is None or path.is_dir() else path
    if path.exists():
        raise BadParams(f"{path} is there already; a snapshot overwrites nothing", hint="-o another-name.tar")
    shelf = storage.shelf if with_bodies else None
    files = storage.files if with_bodies else None
    written: list[Manifest] = []

    def write(file: BinaryIO) -> None:
        written.append(portable.write(ledger, shelf, job, file.write, at_ms=at_ms, files=files))

    storage.write_file(path, write)
    return path, written[0]


@contextmanager
def opened_snapshot(storage: Storage, path: Path) -> Iterator[Snapshot]:
    """A snapshot that was read once and is whole; else it is refused."""
    with storage.opened(path) as file:
        yield Snapshot(file)


def restore_snapshot(storage: Storage, ledger: Ledger, snapshot: Snapshot, restore_options: RestoreOptions) -> Job:
    """The job of a snapshot, made in this ledger; its bodies in this data folder. A damaged checkpoint is not a restore
    point any more, and costs nothing else: that is told, and refuses nothing."""
    lost: list[str] = []

    def judge(query: Query, job: int) -> list[str]:
        said = [(found.check, f"{found.sentence} ({found.check})") for found in verify(query, job)]
        lost[:] = [line for check, line in said if check.startswith(OF_CHECKPOINTS)]
        return [line for check, line in said if not check.startswith(OF_CHECKPOINTS)]

    lists = ListStore(storage.artifacts, storage.write_file)
    made = restore(ledger, storage.shelf, snapshot, restore_options, judge, storage.files, lists)
    for line in lost:
        log.warning(
            "a law is broken in %s, as it was in the snapshot: %s; the job goes on, but not back to such a checkpoint: "
            "holdfast verify %s",
            made.name,
            line,
            made.word,
        )
    return made


def copy_job(storage: Storage, ledger: Ledger, job: Job, name: str, *, actor: str) -> Job:
    """The same job once more, under another name; its rows refer to the same stored pages."""
    path, _ = take_snapshot(storage, ledger, job, with_bodies=False)
    try:
        with opened_snapshot(storage, path) as snapshot:
            its_own = RestoreOptions(name, actor=actor, trust=True)
            return restore_snapshot(storage, ledger, snapshot, its_own)
    finally:
        path.unlink()
