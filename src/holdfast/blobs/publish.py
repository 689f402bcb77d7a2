"""Files that appear whole or not at all, directories that stay, and what a refusal of the disk means.

A rename is atomic but not durable, so only `publish` and `put_in_place` rename, and the directory is fsynced after it.
It never changes the old file before the new one is whole on the disk.

The new one is locked as long as its writer lives. What a killed writer left has no lock, and the next publisher to the
same place removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.errors import BadParams, DiskFull, HoldfastError, LedgerUnavailable, LedgerUnfit
from holdfast.faults import point

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
BUSY = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
NOT_USABLE = frozenset({errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP})
ANYBODYS, ANYBODYS_FILE = 0o777, 0o666  # what the umask takes away is not given
PRIVATE = 0o700
ONE_FILE = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC
NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC


class Disk(msgspec.Struct, frozen=True):
    """The calls on which durability rests, handed in so that a test can see them or make them fail."""

    pwrite: Callable[[int, memoryview, int], int] = os.pwrite
    fdatasync: Callable[[int], None] = os.fdatasync
    fsync: Callable[[int], None] = os.fsync


DISK = Disk()


def publish(
    path: Path,
    write: Callable[[BinaryIO], object],
    *,
    disk: Disk = DISK,
    ours: bool = False,
    through: Path | None = None,
) -> None:
    """Let `write` fill a file beside `path`, then put it in its place. On any error `path` is as it was before.

    `ours`: it lies in the data folder, and is as open to others as that is; else the umask says. `through`: it is one
    of many, and its writer has that temporary file to itself, sweeps it, and syncs the folder when all are there.
    """
    try:
        if through is None:
            make_directory(path.parent, disk=disk, mode=None if ours else ANYBODYS)
            sweep(path)
            temporary, descriptor = beside(path, file_mode(path.parent) if ours else ANYBODYS_FILE)
        else:
            temporary, descriptor = through, os.open(through, ONE_FILE, ANYBODYS_FILE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                write(file)
                file.flush()
                disk.fsync(descriptor)
                point("export.before_rename")
                os.replace(temporary, path)  # while it is locked: nothing takes it for the file of a dead writer
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        if through is None:
            sync_directory(path.parent, disk=disk)
    except OSError as error:
        raise refusal(error, path) from error


def publish_copy(made: Path, path: Path, *, disk: Disk = DISK, ours: bool = False) -> None:
    """Put a copy of the file `made` in the place of `path`."""
    with made.open("rb") as source:
        publish(path, lambda file: shutil.copyfileobj(source, file), disk=disk, ours=ours)


def put_in_place(made: Path, path: Path) -> None:
    """Give a file that is whole and durable its name, which has equal bytes or none; the folder is synced after it."""
    os.replace(made, path)


def make_directory(path: Path, *, disk: Disk = DISK, mode: int | None = ANYBODYS) -> None:
    """Make a directory and its missing ancestors, each durable before the next.

    The deepest one already there is synced as well: its maker may have died before its own fsync. `mode` are the
    permissions of the last one, limited by the umask; None: each gets those of its parent.
    """
    path = path.absolute()
    if path.is_dir():
        with suppress(PermissionError):  # a parent that we may not read is not one in which we made something
            sync_directory(path.parent, disk=disk)
        return
    make_directory(path.parent, disk=disk, mode=None if mode is None else ANYBODYS)
    with suppress(FileExistsError):
        path.mkdir(folder_mode(path.parent) if mode is None else mode)
    sync_directory(path.parent, disk=disk)


def folder_mode(folder: Path) -> int:
    """The permissions of a folder."""
    return stat.S_IMODE(folder.stat().st_mode) & ANYBODYS


def file_mode(folder: Path) -> int:
    """The permissions of a new file in the data folder: those of the folder that it lies in."""
    return folder_mode(folder) & ANYBODYS_FILE | stat.S_IRUSR | stat.S_IWUSR


def sync_directory(path: Path, *, disk: Disk = DISK) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        disk.fsync(descriptor)
    finally:
        os.close(descriptor)


def refusal(error: OSError, path: Path | str) -> HoldfastError:
    """What an error of the operating system means when something was to be saved at `path`."""
    reason = error.strerror or str(error)
    if error.errno in NO_ROOM:
        return DiskFull(f"no room to save {path}: {reason}")
    if error.errno in BUSY:
        return LedgerUnavailable(f"cannot open {path} at the moment: {reason}")
    if error.errno in NOT_USABLE:
        return BadParams(f"cannot write {path}: {reason}")
    return LedgerUnfit(f"the disk refused to keep {path}: {reason}")


def beside(path: Path, mode: int) -> tuple[Path, int]:
    """A new file in the same directory, locked, under a name that is never used again.

    Where it cannot be locked, or was swept before it was, another has a name that is never swept.
    """
    temporary = path.parent / f"{_mark(path)}{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, NEW_FILE, mode)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return temporary, descriptor
    os.close(descriptor)
    temporary.unlink(missing_ok=True)
    return _new_file(path.parent, mode)


def _new_file(folder: Path, mode: int) -> tuple[Path, int]:
    """A name left over by a killed process is passed by."""
    numbers = count(1)
    while True:
        temporary = folder / f".publish-{os.getpid()}-{next(numbers)}.tmp"
        with suppress(FileExistsError):
            return temporary, os.open(temporary, NEW_FILE, mode)


def sweep(path: Path) -> None:
    """Remove what killed writers to the same place have left. What is locked has a live writer and stays."""
    for left in path.parent.glob(f"{_mark(path)}*.tmp"):
        with suppress(OSError), left.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _mark(path: Path) -> str:
    """How names of this computer's files for this place begin: not every shared folder shares its locks, too."""
    return f".publish-{sha256(os.fsencode(f'{os.uname().nodename}/{path.name}')).hexdigest()[:16]}-"
