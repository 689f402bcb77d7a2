"""A published file is whole and durable, or the old one is still there."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from blobs.bodies import Witness, nth_call_fails
from holdfast import faults
from holdfast.blobs.publish import Disk, make_directory, publish
from holdfast.errors import BadParams, Corrupt, DiskFull, LedgerUnfit


def write_new(file: BinaryIO) -> None:
    file.write(b"new " * 10_000)


def test_the_bytes_are_durable_before_the_name_and_the_name_before_the_return(tmp_path: Path) -> None:
    """SNP-03: a snapshot is written so, like every file that has a name."""
    path = tmp_path / "frog"
    synced: list[tuple[str, int, bool]] = []

    def fsync(descriptor: int) -> None:
        here = os.fstat(descriptor)
        kind = "directory" if stat.S_ISDIR(here.st_mode) else "file"
        synced.append((kind, here.st_ino if kind == "directory" else here.st_size, path.exists()))

    publish(path, lambda file: file.write(b"frog"), disk=Disk(fsync=fsync))
    assert synced[-2:] == [("file", 4, False), ("directory", tmp_path.stat().st_ino, True)]
    assert path.read_bytes() == b"frog"


def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "frogs.jsonl"
    path.write_bytes(b"old")

    def half(file: BinaryIO) -> None:
        write_new(file)
        raise Corrupt("a frog is missing")

    with pytest.raises(Corrupt, match="a frog is missing"):
        publish(path, half)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("frogs.jsonl", b"old")]


@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EROFS, DiskFull), (errno.EIO, LedgerUnfit)]
)
def test_a_failed_fsync_leaves_the_old_file(tmp_path: Path, number: int, error: type[Exception]) -> None:
    path = tmp_path / "frogs.jsonl"
    path.write_bytes(b"old")
    disk = Disk(fsync=nth_call_fails(2, number, os.fsync))
    with pytest.raises(error, match=r"frogs\.jsonl"):
        publish(path, write_new, disk=disk)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("frogs.jsonl", b"old")]


def test_a_failed_fsync_of_the_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnfit):
        publish(tmp_path / "frog", write_new, disk=Disk(fsync=nth_call_fails(3, errno.EIO, os.fsync)))


def test_a_raised_fault_before_the_rename_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "frogs.jsonl"
    path.write_bytes(b"old")
    faults.arm("export.before_rename:1:raise")
    try:
        with pytest.raises(faults.InjectedFault):
            publish(path, write_new)
    finally:
        faults.arm("")
    assert os.listdir(tmp_path) == ["frogs.jsonl"]
    assert path.read_bytes() == b"old"


PUBLISHING = """
import sys
from pathlib import Path
from holdfast.blobs.publish import publish
publish(Path(sys.argv[1]), lambda file: file.write(b"new"))
"""


def test_a_process_killed_before_the_rename_leaves_the_old_file_and_the_next_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "frogs.jsonl"
    path.write_bytes(b"old")
    armed = {**os.environ, "HOLDFAST_FAULT": "export.before_rename:1:kill"}
    killed = subprocess.run([sys.executable, "-c", PUBLISHING, path], env=armed)
    assert (killed.returncode, path.read_bytes()) == (-9, b"old")
    publish(path, write_new)
    assert path.read_bytes() == b"new " * 10_000


def test_what_a_killed_process_left_is_swept_by_the_next_who_publishes_to_the_same_place(tmp_path: Path) -> None:
    armed = {**os.environ, "HOLDFAST_FAULT": "export.before_rename:1:kill"}
    for name in ("frogs.jsonl", "toads.jsonl"):
        assert subprocess.run([sys.executable, "-c", PUBLISHING, tmp_path / name], env=armed).returncode == -9
    frogs, toads = sorted(tmp_path.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    publish(tmp_path / "frogs.jsonl", write_new)
    assert set(tmp_path.iterdir()) == {tmp_path / "frogs.jsonl", toads}, f"{frogs} is of the same place"


WAITING = """
import sys
from pathlib import Path
from holdfast.blobs.publish import publish
def write(file):
    file.write(b"slow")
    print("begun", flush=True)
    sys.stdin.read()
publish(Path(sys.argv[1]), write)
"""


def test_the_file_of_one_who_still_writes_to_the_same_place_is_left_alone(tmp_path: Path) -> None:
    """Whether in another process or in this one; the last to end wins."""
    path = tmp_path / "frogs.jsonl"
    slow = subprocess.Popen([sys.executable, "-c", WAITING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with slow:
        assert slow.stdout is not None
        assert slow.stdout.readline() == b"begun\n"

        def write(file: BinaryIO) -> None:
            publish(path, lambda inner: inner.write(b"inner"))
            assert path.read_bytes() == b"inner"
            assert len(os.listdir(tmp_path)) == 3
            file.write(b"outer")

        publish(path, write)
        assert path.read_bytes() == b"outer"
        slow.communicate()
    assert (slow.returncode, path.read_bytes(), os.listdir(tmp_path)) == (0, b"slow", ["frogs.jsonl"])


def test_a_whole_file_is_held_until_it_is_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever publishes to the same place just before the rename does not take it for one of the dead."""
    path = tmp_path / "frogs.jsonl"

    def meddled(name: str) -> None:
        monkeypatch.setattr("holdfast.blobs.publish.point", lambda name: None)
        publish(path, lambda file: file.write(b"meddler"))

    monkeypatch.setattr("holdfast.blobs.publish.point", meddled)
    publish(path, write_new)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new " * 10_000, ["frogs.jsonl"])


def test_where_files_cannot_be_locked_nothing_is_swept_and_all_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "frogs.jsonl"

    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    def write(file: BinaryIO) -> None:
        monkeypatch.undo()  # the locks are there again, and this file has none
        publish(path, lambda inner: inner.write(b"inner"))
        file.write(b"outer")

    monkeypatch.setattr("fcntl.flock", refused)
    publish(path, write)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"outer", ["frogs.jsonl"])


def test_a_file_that_was_swept_before_it_was_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "frogs.jsonl"
    lock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        monkeypatch.setattr("fcntl.flock", lock)
        publish(path, lambda file: file.write(b"sweeper"))
        lock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", late)
    publish(path, write_new)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new " * 10_000, ["frogs.jsonl"])


def test_a_name_left_behind_by_a_killed_process_is_passed_by(tmp_path: Path) -> None:
    left = tmp_path / f".publish-{os.getpid()}-1.tmp"
    left.write_bytes(b"somebody's")
    publish(tmp_path / "frog", write_new)
    assert left.read_bytes() == b"somebody's"
    assert (tmp_path / "frog").read_bytes() == b"new " * 10_000


def test_a_place_that_cannot_be_written_is_a_wrong_parameter(tmp_path: Path) -> None:
    (tmp_path / "frog").write_bytes(b"")
    with pytest.raises(BadParams, match="cannot write"):
        publish(tmp_path / "frog" / "toad", write_new)
    (tmp_path / "marsh").mkdir()
    with pytest.raises(BadParams, match="cannot write"):
        publish(tmp_path / "marsh", write_new)


def test_each_new_directory_is_durable_in_its_parent_before_the_next_is_made(tmp_path: Path) -> None:
    witness = Witness()
    make_directory(tmp_path / "a" / "b" / "c", disk=witness.disk)
    assert (tmp_path / "a" / "b" / "c").is_dir()
    parents = [tmp_path.parent, tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    assert witness.seen == [("fsync directory", parent) for parent in parents]


def test_a_directory_found_there_is_synced_too_since_its_maker_may_have_died(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    witness = Witness()
    make_directory(tmp_path / "a", disk=witness.disk)
    assert witness.seen == [("fsync directory", tmp_path)]


def test_a_directory_whose_parent_may_not_be_read_is_still_used(tmp_path: Path) -> None:
    make_directory(tmp_path, disk=Disk(fsync=nth_call_fails(1, errno.EACCES, os.fsync)))
    with pytest.raises(PermissionError):
        make_directory(tmp_path / "a", disk=Disk(fsync=nth_call_fails(2, errno.EACCES, os.fsync)))
