"""Many files put in place together: whole or not there, on the disk before their names, nothing left beside."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from holdfast.blobs.batch import FILES_AT_ONCE, Filling, publish_all
from holdfast.blobs.publish import Disk
from holdfast.errors import DiskFull


class Watching:
    """A disk that tells what was synced, and how many files had names by then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said: list[tuple[str, int]] = []
        self._lock = threading.Lock()
        self.disk = Disk(fsync=self.fsync)

    def fsync(self, descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        with self._lock:
            self.said.append((path.name if path.is_dir() else "file", len(list(self.root.glob("a/*.pdf")))))


def files(root: Path, count: int) -> list[Filling]:
    return [(root / "a" / f"{n}.pdf", lambda file, n=n: file.write(b"%d" % n)) for n in range(count)]  # type: ignore[misc]


def test_files_are_on_the_disk_before_any_of_their_batch_has_a_name(tmp_path: Path) -> None:
    """D1: one wait for the disk serves a batch, and the folder is synced behind the last name of it."""
    watching = Watching(tmp_path)
    publish_all(files(tmp_path, FILES_AT_ONCE + 3), tmp_path, disk=watching.disk)
    assert sorted(path.read_bytes() for path in (tmp_path / "a").iterdir()) == sorted(
        b"%d" % n for n in range(FILES_AT_ONCE + 3)
    )
    named = [named for what, named in watching.said if what == "file"]
    assert named == [0] * FILES_AT_ONCE + [FILES_AT_ONCE] * 3
    assert [named for what, named in watching.said if what == "a"] == [FILES_AT_ONCE, FILES_AT_ONCE + 3]


def test_a_batch_that_fails_leaves_what_was_there_and_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.pdf").write_bytes(b"before")

    def full(_file: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull):
        publish_all([*files(tmp_path, 3), (tmp_path / "a" / "9.pdf", full)], tmp_path)
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == {"1.pdf": b"before"}


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    dead, alive = tmp_path / "a" / ".publish-0-1.tmp", tmp_path / "a" / ".publish-0-2.tmp"
    dead.write_bytes(b"half")
    with alive.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        publish_all(files(tmp_path, 2), tmp_path)
        assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [alive.name, "0.pdf", "1.pdf"]
