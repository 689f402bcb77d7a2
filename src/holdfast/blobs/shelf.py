"""Segments as whole files: read to the end of what is referred to, and received from a snapshot.

A folder into which bodies are received has a mark in it until the rows that refer to them are committed. The mark
identifies what a killed restore left: it is not taken for pages of a lost ledger, and the next restore writes there.
The mark names its ledger and its computer: only there can we know that the files are not needed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from holdfast.blobs.publish import file_mode, make_directory, publish, refusal, sync_directory
from holdfast.errors import BadParams, Corrupt, HoldfastError, LedgerUnavailable, NotFound, Refused
from holdfast.model.outcome import is_segment

READ_BYTES = 1 << 20
MARK = "restoring"
MARK_BYTES_MAX = 500
LOST = (
    "holdfast doctor --repair puts its pages back, to be fetched again, and holdfast retry those that failed since; "
    "--without-artifacts leaves bodies out"
)


class SegmentShelf:
    """Fulfils ports.Shelf for the segments below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def size(self, name: str) -> int:
        try:
            return self._path(name).stat().st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise BadParams(f"segment {name} cannot be read: {error.strerror}") from error

    def blocks(self, name: str, length: int) -> Iterator[bytes]:
        try:
            with open(self._path(name), "rb", opener=_not_followed) as file:
                if file.seek(0, os.SEEK_END) < length:
                    raise Corrupt(f"segment {name} is shorter than its pages need", hint=LOST)
                file.seek(0)
                while length:
                    block = file.read(min(length, READ_BYTES))
                    if not block:
                        raise Corrupt(f"segment {name} became shorter while it was read")
                    length -= len(block)
                    yield block
        except FileNotFoundError:
            raise NotFound(f"segment {name} is missing", hint=LOST) from None
        except OSError as error:
            raise BadParams(f"segment {name} cannot be read: {error.strerror}") from error

    def _path(self, name: str) -> Path:
        if not is_segment(name):
            raise Corrupt(f"{name[:200]!r} cannot be a segment's name", hint="holdfast verify JOB")
        return self._root / name

    def is_free(self, uid: str) -> bool:
        folder = self._root / uid
        return not folder.exists() or is_being_restored(folder)

    @contextmanager
    def receiving(
        self, uids: Iterable[str], is_taken: Callable[[str], bool], ledger: str = ""
    ) -> Iterator[tuple[str, Callable[[str, Iterable[bytes]], None]]]:
        """Files appear whole, one by one. Where the rows are refused they are taken away again; where it is not known
        whether those were committed (a lost answer, Ctrl-C), they stay: bytes without a row do no harm."""
        files: list[Path] = []

        def receive(name: str, blocks: Iterable[bytes]) -> None:
            path = folder / name
            if path.exists():
                _refuse_other(path, blocks)
            else:
                files.append(path)
                publish(path, lambda file: [file.write(block) for block in blocks], ours=True)

        with ExitStack() as held:
            uid = next(uid for uid in uids if self.is_free(uid) and _hold(held, self._root / uid, is_taken, ledger))
            folder = self._root / uid
            try:
                yield uid, receive
            except LedgerUnavailable:
                raise
            except HoldfastError:
                for path in files:
                    path.unlink(missing_ok=True)
                if [path.name for path in folder.iterdir()] == [MARK]:
                    (folder / MARK).unlink()
                    with suppress(OSError):
                        folder.rmdir()
                raise
            (folder / MARK).unlink(missing_ok=True)


def _refuse_other(path: Path, blocks: Iterable[bytes]) -> None:
    """What a killed restore left is reused if it is the same; existing bytes are never replaced."""
    with open(path, "rb", opener=_not_followed) as file:
        is_same = all(file.read(len(block)) == block for block in blocks) and not file.read(1)
    if not is_same:
        raise Refused(
            f"{path.parent} has another file {path.name}, which a restore that did not end has left",
            hint="where no job of any ledger refers to it, remove that folder and run the same command again",
        )


def _not_followed(path: str, flags: int) -> int:
    """Where a link leads is not in the data folder."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


def mark_of(ledger: str) -> str:
    """What the mark of a restore into this ledger says, on this computer."""
    return f"{ledger} {os.uname().nodename}"


def read_mark(descriptor: int) -> str:
    """Empty where an older version made it, or its maker died at once."""
    return os.pread(descriptor, MARK_BYTES_MAX, 0).decode(errors="replace")


def is_being_restored(folder: Path) -> bool:
    """Whether this folder's bodies may belong to no job, because a restore did not come to its end."""
    return (folder / MARK).exists()


def _hold(held: ExitStack, folder: Path, is_taken: Callable[[str], bool], ledger: str) -> bool:
    """The mark is on the disk before the first body, and held by one process at a time. Whoever held it before may have
    come to its end meanwhile: then the folder is a job's, and is passed by, like one of another ledger's restore."""
    mark = folder / MARK
    try:
        make_directory(folder, mode=None)
        was_there = mark.exists()
        descriptor = os.open(mark, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, file_mode(folder))
    except OSError as error:
        raise refusal(error, folder) from error
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused(f"another process is restoring {folder.name} here just now") from None
    try:
        if not os.path.samestat(os.fstat(descriptor), mark.stat()):
            return False
    except FileNotFoundError:
        return False
    is_somebodys = not was_there and [path.name for path in folder.iterdir()] != [MARK]
    if is_somebodys or is_taken(folder.name):
        mark.unlink()
        return False
    if read_mark(descriptor) not in ("", mark_of(ledger)):
        return False
    os.pwrite(descriptor, mark_of(ledger).encode(), 0)
    os.fsync(descriptor)
    sync_directory(folder)
    return True


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to be read."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise BadParams(f"{path} cannot be read: {error.strerror}") from error
    with file:
        if not file.seekable():
            raise BadParams(f"{path} cannot be read: it is a stream, not a file", hint="save it to a file first")
        yield file
