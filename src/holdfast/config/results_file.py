"""The file or folder that a person names for results: whether it can be written, and is not one of our own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from holdfast.errors import BadParams

LEDGER = "ledger.db"  # and what stands beside it: -wal, -shm
OURS = frozenset(
    {"segments", "artifacts", "snapshots", "recordings", "archives", "exports", "backups", "spool", "logs", "reserve"}
)
MAY_PASS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def writable(path: Path, data: Path) -> Path:
    """Checked before any work begins, so that hours of crawling do not end in a file that cannot be written.

    The file itself, not a link to it: a rename would put a file in the link's place. And never in the place of what
    a data folder keeps, this one or another: the ledger, the pages.
    """
    real = _place(path, data)
    if real.is_dir():
        raise BadParams(f"{path} is a folder; name a file in it", hint=f"{path}/results.jsonl")
    if real.exists() and not real.is_file():
        raise BadParams(f"{path} is not a regular file", hint="-o - writes to stdout")
    return real


def writable_folder(path: Path, data: Path) -> Path:
    """The same for results that are many files: a folder that is there, or can be made."""
    real = _resolved(path)
    if real == data.resolve() or (real / "ledger.db").exists():
        raise BadParams(f"{path} is a data folder", hint="write results somewhere else")
    if real.is_dir():
        _refuse_kept(path, real, data)
        if not os.access(real, os.W_OK | os.X_OK):
            raise BadParams(f"the folder {path} cannot be written")
        _probe(path, real)
        return real
    if real.exists():
        raise BadParams(f"{path} is a file; results of this form are a folder of files", hint="-o another-folder/")
    return _place(path, data)


def _resolved(path: Path) -> Path:
    """The path without links. A name that no file can have is found out here: too long, a loop of links."""
    try:
        real = path.resolve()
        real.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise BadParams(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return real


def _probe(path: Path, folder: Path) -> None:
    """Make a file there that has no name and is gone at once. Permissions do not tell all: root has every one of them,
    and /proc or a folder that is sealed refuses all the same. A disk that is full now may have room at the end."""
    import tempfile

    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        if error.errno in MAY_PASS:
            return
        raise BadParams(f"{path}: the folder {folder} cannot be written: {error.strerror or error}") from None


def _place(path: Path, data: Path) -> Path:
    """Where a new file or folder would be."""
    real = _resolved(path)
    _refuse_kept(path, real, data)
    if not real.parent.is_dir():
        raise BadParams(f"{path}: there is no folder {real.parent}", hint=f"mkdir -p {real.parent}")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise BadParams(f"{path}: the folder {real.parent} cannot be written")
    _probe(path, real.parent)
    return real


def _refuse_kept(path: Path, real: Path, data: Path) -> None:
    if any(_keeps(folder, real, data.resolve()) for folder in real.parents):
        raise BadParams(f"{path} is where the data folder keeps its own", hint="write results somewhere else")


def _keeps(folder: Path, real: Path, data: Path) -> bool:
    """Whether the file would be among what a data folder keeps. One is known by its ledger, or by pages of a job."""
    name = real.relative_to(folder).parts[0]
    if name not in OURS and not name.startswith(LEDGER):
        return False
    return folder == data or (folder / "ledger.db").exists() or any((folder / "segments").glob("J-*"))
