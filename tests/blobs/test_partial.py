"""A file on its way to a disk that refuses to sync it."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from holdfast.blobs import partial as module
from holdfast.blobs.artifacts import ArtifactFiles
from holdfast.blobs.partial import NOTE_BYTES, Partial
from holdfast.blobs.publish import Disk
from holdfast.errors import HoldfastError, LedgerUnavailable, LedgerUnfit

HEADERS = (("etag", '"frog-1"'), ("content-length", str(3 * NOTE_BYTES)))


def refusing(call: Callable[[int], None], nth: int, error: int) -> Callable[[int], None]:
    """One sync of the file itself fails; the kernel has told of it then, and the next says that all is well."""
    seen = 0

    def sync(descriptor: int) -> None:
        nonlocal seen
        seen += os.readlink(f"/proc/self/fd/{descriptor}").endswith(".part")
        if seen == nth:
            seen += 1
            raise OSError(error, os.strerror(error))
        call(descriptor)

    return sync


def opened(root: Path, disk: Disk) -> Partial:
    made = ArtifactFiles(root, "J-1", "b1", disk=disk).open(
        "1 frog GET", target=1, url="http://a.test/", bytes_max=1 << 30
    )
    if made.is_left:
        made.take_up()
    return made


def begun(root: Path, disk: Disk) -> Partial:
    """A megabyte of it is there, and its note says so."""
    made = opened(root, disk)
    made.begin(200, HEADERS)
    made.write(b"x" * NOTE_BYTES)
    made.settle()
    assert made.is_left
    return made


def left(root: Path) -> list[str]:
    return sorted(path.suffix for path in (root / ".partial").iterdir())


def test_a_file_whose_sync_failed_while_it_came_in_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3: what the disk did not confirm is not trusted by the next try of the same boot either."""
    monkeypatch.setattr(module, "SYNC_BYTES", NOTE_BYTES)
    made = begun(tmp_path, Disk(fdatasync=refusing(os.fdatasync, 2, errno.EIO)))
    made.write(b"y" * NOTE_BYTES)
    with pytest.raises(LedgerUnfit):
        made.settle()
    assert left(tmp_path) == [".part"]  # a kill now leaves nothing that could be continued
    made.close(keep=True)
    assert left(tmp_path) == []
    assert opened(tmp_path, Disk()).asking == ()


@pytest.mark.parametrize(
    ("error", "said"), [(errno.EIO, LedgerUnfit), (errno.ENOMEM, LedgerUnavailable)], ids=["for good", "for a moment"]
)
def test_a_file_whose_last_sync_failed_gets_no_name_and_is_begun_anew(
    tmp_path: Path, error: int, said: type[HoldfastError]
) -> None:
    """D3: a second fsync that succeeds proves nothing."""
    made = begun(tmp_path, Disk(fsync=refusing(os.fsync, 1, error)))
    with pytest.raises(said):
        made.make_durable()
    with pytest.raises(LedgerUnfit):
        made.make_durable()
    made.close(keep=True)
    assert left(tmp_path) == []


def test_a_small_file_that_was_refused_for_a_moment_is_written_whole_when_the_call_is_repeated(tmp_path: Path) -> None:
    """F1: it is in memory until its commit, so nothing of it is lost by a write that fails half-way."""
    sizes: list[int] = []

    def pwrite(descriptor: int, data: memoryview, at: int) -> int:
        sizes.append(len(data))
        if len(sizes) == 2:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return os.pwrite(descriptor, data[:60_000], at)

    body = os.urandom(100_000)
    made = opened(tmp_path, Disk(pwrite=pwrite))
    made.begin(200, ())
    made.write(body)
    made.whole()
    assert (made.sha256, made.ends(8), sizes) == (sha256(body).digest(), (body[:8], body[-8:]), [])
    with pytest.raises(LedgerUnavailable):
        made.make_durable()
    made.make_durable()
    assert (made.path.read_bytes(), made.sha256) == (body, sha256(body).digest())
    assert made.ends(8) == (body[:8], body[-8:])
    made.close(keep=False)


def held(root: Path, body: bytes) -> Partial:
    """All of a small file has come in; nothing of it is on the disk."""
    (root / ".partial").mkdir(exist_ok=True)
    made = opened(root, Disk())
    made.begin(200, ())
    made.write(body)
    made.whole()
    return made


def test_a_small_file_is_not_written_into_what_a_killed_worker_left_since(tmp_path: Path) -> None:
    """F1: without a note it is continued by nobody, and may be longer."""
    made = held(tmp_path, b"frog" * 1_000)
    made.path.write_bytes(b"toad" * 9_000)
    made.make_durable()
    assert made.path.read_bytes() == b"frog" * 1_000
    made.close(keep=False)
    assert left(tmp_path) == []


def test_a_small_file_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: a process that starts meanwhile removes what has no lock."""
    made, lock = held(tmp_path, b"frog" * 1_000), fcntl.flock
    swept: list[Path] = []

    def after_the_sweep(descriptor: int, how: int) -> None:
        if not swept:
            swept.append(made.path)
            made.path.unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", after_the_sweep)
    made.make_durable()
    assert made.path.read_bytes() == b"frog" * 1_000
    assert swept == [made.path]
    made.close(keep=False)


def test_a_small_file_that_is_written_to_before_it_is_locked_has_its_own_bytes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: another try of the same key opens the file that was just made, locks it first, and is killed."""
    made, lock = held(tmp_path, b"frog" * 1_000), fcntl.flock
    killed: list[Path] = []

    def after_the_other(descriptor: int, how: int) -> None:
        if not killed:
            killed.append(made.path)
            made.path.write_bytes(b"toad" * 9_000)
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", after_the_other)
    made.make_durable()
    assert killed == [made.path]
    assert made.path.read_bytes() == b"frog" * 1_000
    made.close(keep=False)
