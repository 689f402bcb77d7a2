"""Which job an exported folder is of: an export removes what it no longer wants, so it must be the only one there.

Noted in the data folder, because the exported one is the user's: nothing of ours lies in it but results.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.errors import BadParams, HoldfastError
from holdfast.model.job import Job
from holdfast.ports import Storage

NOTES = "exports"


class FolderNote(msgspec.Struct):
    """By the name of its job: one that was begun anew has the same."""

    folder: str
    job: str


def refuse_folder_of_another(storage: Storage, name: str, folder: Path) -> None:
    """BadParams where the last export into this folder was that of a job of another name, and it is still there."""
    owner = owner_of(storage, folder)
    if owner not in (None, name):
        raise BadParams(
            f"{folder} has the results of another job, {owner}: an export would remove them",
            hint="-o another-folder/",
        )


def owner_of(storage: Storage, folder: Path) -> str | None:
    """The name of the job whose results are in this folder, as far as this data folder knows."""
    note = _read(_path(storage, folder))
    return note.job if note is not None and folder.is_dir() and any(folder.iterdir()) else None


def note_folder(storage: Storage, job: Job, folder: Path) -> None:
    """A data folder that can only be read has no notes: exporting from it is allowed all the same."""
    text = msgspec.json.encode(FolderNote(str(folder.resolve()), job.name))
    path = _path(storage, folder)
    if _read(path) != msgspec.json.decode(text, type=FolderNote):
        with suppress(HoldfastError, OSError):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            storage.write_file(path, partial(_fill, text))


def _fill(text: bytes, file: BinaryIO) -> None:
    file.write(text)


def _path(storage: Storage, folder: Path) -> Path:
    name = sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return storage.snapshots.parent / NOTES / f"{name}.json"


def _read(path: Path) -> FolderNote | None:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=FolderNote)
    return None
