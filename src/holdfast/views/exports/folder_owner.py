"""Which job an exported folder is of: an export removes what it no longer wants, so it must be the only one there.

Noted in the data folder, under the name of the job. Forms whose files do not tell by themselves that they are ours also
put a mark into the exported folder, before anything else: so a killed export is known, and one of another data folder.
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
MARK = ".holdfast-export.json"


class FolderNote(msgspec.Struct, omit_defaults=True):
    """By the name of its job: one that was begun anew has the same. `uid` is of the job that wrote last; `folder` is
    not in a mark, which may be given away with its folder."""

    job: str
    uid: str = ""
    folder: str = ""


def refuse_folder_of_another(storage: Storage, name: str, uid: str, folder: Path) -> None:
    """BadParams where the last export into this folder was that of a job of another name or of another data folder,
    and it is still there. A job that is still to be made has no `uid`."""
    mark, note = _read(folder / MARK), _read(_path(storage, folder))
    if mark is not None and mark.uid != uid and (note is None or note.uid != mark.uid):
        raise BadParams(
            f"{folder} has the results of a job of another data folder, {mark.job}: an export would remove them",
            hint="-o another-folder/",
        )
    owner = owner_of(storage, folder)
    if owner not in (None, name):
        raise BadParams(
            f"{folder} has the results of another job, {owner}: an export would remove them",
            hint="-o another-folder/",
        )


def owner_of(storage: Storage, folder: Path) -> str | None:
    """The name of the job whose results are in this folder, as far as this data folder or the mark knows."""
    note = _read(_path(storage, folder)) or _read(folder / MARK)
    return note.job if note is not None and folder.is_dir() and any(folder.iterdir()) else None


def note_folder(storage: Storage, job: Job, folder: Path) -> None:
    """A data folder that can only be read has no notes: exporting from it is allowed all the same."""
    note, path = FolderNote(job.name, job.uid, str(folder.resolve())), _path(storage, folder)
    if _read(path) != note:
        with suppress(HoldfastError, OSError):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            storage.write_file(path, partial(_fill, msgspec.json.encode(note)))


def is_marked(folder: Path) -> bool:
    """Whether an export that marks its folder began here; whose it is, `refuse_folder_of_another` says."""
    return _read(folder / MARK) is not None


def mark_folder(storage: Storage, job: Job, folder: Path) -> None:
    """Before anything else is written, so that a killed export is known for what it is."""
    mark = FolderNote(job.name, job.uid)
    if _read(folder / MARK) != mark:
        storage.write_file(folder / MARK, partial(_fill, msgspec.json.encode(mark)))
    note_folder(storage, job, folder)


def is_left_over(name: str) -> bool:
    """The beginning of a file, of an export that was killed; the next writer of that file removes it."""
    return name.startswith(".publish-") and name.endswith(".tmp")


def _fill(text: bytes, file: BinaryIO) -> None:
    file.write(text)


def _path(storage: Storage, folder: Path) -> Path:
    name = sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return storage.snapshots.parent / NOTES / f"{name}.json"


def _read(path: Path) -> FolderNote | None:
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(path.read_bytes(), type=FolderNote)
    return None
