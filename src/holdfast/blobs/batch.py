"""Many files put in their places together: each is whole or not there, and one wait for the disk serves a batch.

One by one, as `publish` does it, 3,000 files took a minute: two fsyncs each, and a look through the folder for what a
killed writer left. Here that look is made once for a folder.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from holdfast.blobs.publish import (
    ANYBODYS,
    ANYBODYS_FILE,
    DISK,
    Disk,
    beside,
    file_mode,
    make_directory,
    put_in_place,
    refusal,
    sync_directory,
)
from holdfast.blobs.together import Together
from holdfast.faults import point

FILES_AT_ONCE = 64  # so many are open at a time
Filling = tuple[Path, Callable[[BinaryIO], object]]


def publish_all(files: Iterable[Filling], place: Path, *, disk: Disk = DISK, ours: bool = False) -> None:
    """Put files below `place`. On any error those that have their names are whole, and the others are as before.

    `ours`: they lie in the data folder, and are as open to others as that is; else the umask says.
    """
    batch = _Batch(place, disk, ours)
    left = iter(files)
    try:
        while some := list(islice(left, FILES_AT_ONCE)):
            batch.put(some)
    except OSError as error:
        raise refusal(error, place) from error
    finally:
        batch.close()


class _Batch:
    def __init__(self, place: Path, disk: Disk, ours: bool) -> None:
        self._disk, self._ours = disk, ours
        self._together = Together(place)
        self._folders: set[Path] = set()  # made, and swept

    def put(self, files: list[Filling]) -> None:
        made: list[tuple[Path, Path, BinaryIO]] = []
        try:
            for path, fill in files:
                self._make_folder(path.parent)
                temporary, descriptor = beside(path, file_mode(path.parent) if self._ours else ANYBODYS_FILE)
                made.append((temporary, path, os.fdopen(descriptor, "wb")))
                fill(made[-1][2])
                made[-1][2].flush()
            self._together(lambda item: self._disk.fsync(item[2].fileno()), made)
            for temporary, path, _ in made:
                point("export.before_rename")
                put_in_place(temporary, path)
            folders = list({path.parent for path, _ in files})
            self._together(lambda folder: sync_directory(folder, disk=self._disk), folders)
        finally:
            for temporary, _, file in made:
                with suppress(OSError):
                    temporary.unlink()
                with suppress(OSError):
                    file.close()

    def close(self) -> None:
        self._together.close()

    def _make_folder(self, folder: Path) -> None:
        if folder not in self._folders:
            make_directory(folder, disk=self._disk, mode=None if self._ours else ANYBODYS)
            for left in _left(folder):
                with suppress(OSError), left.open("rb+") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink()
            self._folders.add(folder)


def _left(folder: Path) -> Iterator[Path]:
    """What killed writers may have left; what is locked is somebody's, and stays."""
    return folder.glob(".publish-*.tmp")
