"""A note that results are owed: they are to be written, and have not been written to the end. It lies in the data
folder from before a job is worked until its results are whole, so the next command knows, whatever ended this one.

Where no note can be kept (a disk that is full, or can only be read) there is none: an export does without.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from holdfast.blobs.publish import sync_directory

PRIVATE = 0o700


class OwedNote(msgspec.Struct, frozen=True):
    """Where the results go: a job that was given another place owes nothing at this one."""

    output: str
    form: str


def owe(path: Path, note: OwedNote) -> None:
    """From now on these results are owed."""
    if _read(path) == note:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=PRIVATE, exist_ok=True)
        with path.open("wb") as file:
            file.write(msgspec.json.encode(note))
            file.flush()
            os.fsync(file.fileno())
        sync_directory(path.parent)


def is_owed(path: Path, note: OwedNote) -> bool:
    """Also where the note is cut off: whoever wrote it was killed."""
    return path.is_file() and _read(path) in (note, None)


def settle(path: Path) -> None:
    """The results are whole."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold the note while results are written; False where another process holds it. The lock is this process' alone:
    what it forks does not keep it when it is killed."""
    try:
        file = path.open("rb+")
    except OSError:
        yield True
        return
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            yield False
            return
        except OSError:
            pass  # a file system without locks
        yield True


def _read(path: Path) -> OwedNote | None:
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(path.read_bytes(), type=OwedNote)
    return None
