"""A folder of exported files that is brought up to date: each file whole or not at all, and an index of them.

Files that the index of an earlier export names are ours, as are those that a killed export had begun, which are in its
journal: they are replaced, and removed when they are no longer wanted. Anything else in the folder is somebody's, and
is neither replaced nor removed.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.blobs.publish import make_directory, publish, refusal, sync_directory
from holdfast.blobs.spill import unnamed_file
from holdfast.errors import BadParams, Refused

INDEX, JOURNAL, TEMPORARY = "index.jsonl", ".index.jsonl.part", ".index.jsonl.tmp"

IsOurs = Callable[[str], bool]


class Folder:
    """For one export at a time. `is_ours` tells names that could be of such an export, `start` is how each of our
    files begins."""

    def __init__(self, path: Path, *, is_ours: IsOurs, start: bytes) -> None:
        self._path, self._is_ours, self._start = path, is_ours, start
        self._folders: set[Path] = set()
        self._written: set[int] = set()  # by hash: a name would take four times the memory
        try:
            make_directory(path)
            self._journal = self._locked()
            self._index = unnamed_file(path)
        except OSError as error:
            raise refusal(error, path) from error

    def put(self, name: str, file: bytes) -> None:
        """Put a file in its place, unless it is there already."""
        path = self._path / name
        try:
            before = _read(path)
            if before is not None and not before.startswith(self._start):
                raise BadParams(f"{path} is there already, and no export wrote it", hint="-o another-folder/")
            if before != file:
                self._journal.write(msgspec.json.encode({"file": name}) + b"\n")
                self._journal.flush()  # before the file is there
                self._replace(path, file)
        except OSError as error:
            raise refusal(error, path) from error
        self._written.add(_digest(name))

    def list(self, line: bytes) -> None:
        """Add a line to the index, which appears when all is done."""
        self._index.write(line)

    def finish(self) -> None:
        """Write the index and remove what is no longer wanted; only then is the export done."""
        try:
            for folder in self._folders:
                sync_directory(folder)
            gone = [name for name in self._named() if _digest(name) not in self._written]
            for name in gone:
                self._remove(name)
            self._index.seek(0)
            publish(self._path / INDEX, lambda file: shutil.copyfileobj(self._index, file))
            for left in (TEMPORARY, JOURNAL):
                (self._path / left).unlink(missing_ok=True)
        except OSError as error:
            raise refusal(error, self._path) from error

    def close(self) -> None:
        self._journal.close()
        self._index.close()

    def _locked(self) -> BinaryIO:
        """The journal, held by this export alone."""
        file = (self._path / JOURNAL).open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise Refused(f"another export writes to {self._path} at the moment", hint="wait until it ends") from None
        except OSError:
            pass  # a file system without locks
        return file

    def _named(self) -> Iterator[str]:
        """The names in the old index and the journal; what cannot be read names nothing."""
        for path in (self._path / INDEX, self._path / JOURNAL):
            with suppress(FileNotFoundError), path.open("rb") as lines:
                for line in lines:
                    with suppress(msgspec.DecodeError, UnicodeDecodeError):
                        name = msgspec.json.decode(line, type=_Line).file
                        if name is not None and self._is_ours(name):
                            yield name

    def _replace(self, path: Path, file: bytes) -> None:
        if path.parent not in self._folders:  # once: it waits for the disk
            make_directory(path.parent)
        # One at a time, and this export holds the lock.
        publish(path, lambda out: out.write(file), through=self._path / TEMPORARY)
        self._folders.add(path.parent)

    def _remove(self, name: str) -> None:
        """A file of ours, and the folders that are empty without it."""
        path = self._path / name
        before = _read(path)
        if before is None or not before.startswith(self._start):
            return
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self._path:
                return
            try:
                folder.rmdir()
            except OSError:
                return


class _Line(msgspec.Struct):
    file: str | None = None


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(name: str) -> int:
    return int.from_bytes(sha256(name.encode("utf-8", "replace")).digest()[:8], "big")
