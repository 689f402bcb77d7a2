"""A published file is whole and durable, or the old one is still there."""

from __future__ import annotations

import errno
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
