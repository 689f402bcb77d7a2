"""Pages of a marsh, and disks that misbehave."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from holdfast.blobs.publish import Disk
from holdfast.model.outcome import Body

FETCHED_AT = 1_772_373_600_123  # 2026-03-01T14:00:00.123Z


def make_body(
    number: int = 7,
    *,
    content: bytes | None = None,
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/html"),),
    status: int = 200,
) -> Body:
    stored = f"<p>frog {number}</p>".encode() * 40 if content is None else content
    url = f"https://marsh.test/frog/{number}"
    return Body(url, status, headers, stored, sha256(stored).digest(), "text/html", FETCHED_AT)


def nth_call_fails(n: int, number: int, call: Callable[..., object]) -> Callable[..., object]:
    """`call`, except that its n-th use raises this errno."""
    uses = iter(range(1, 1_000_000))

    def failing(*arguments: object) -> object:
        if next(uses) == n:
            raise OSError(number, os.strerror(number))
        return call(*arguments)

    return failing


def half_pwrite(descriptor: int, rest: memoryview, offset: int) -> int:
    """A disk that takes half of what it is given."""
    return os.pwrite(descriptor, rest[: len(rest) // 2 + 1], offset)


def room_for_one_write() -> Callable[[int, memoryview, int], int]:
    """A disk that fills up in the middle of its second write, and stays full."""
    writes = iter(range(1_000_000))

    def pwrite(descriptor: int, rest: memoryview, offset: int) -> int:
        if next(writes) == 0:
            return os.pwrite(descriptor, rest, offset)
        os.pwrite(descriptor, rest[: len(rest) // 2], offset)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return pwrite


class Witness:
    """A real disk that writes down, in order, what was made durable: (call, path)."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Path]] = []
        self.disk = Disk(self._pwrite, self._fdatasync, self._fsync)

    def _pwrite(self, descriptor: int, rest: memoryview, offset: int) -> int:
        self._note("pwrite", descriptor)
        return os.pwrite(descriptor, rest, offset)

    def _fdatasync(self, descriptor: int) -> None:
        os.fdatasync(descriptor)
        self._note("fdatasync", descriptor)

    def _fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        self._note(f"fsync {kind}", descriptor)

    def _note(self, call: str, descriptor: int) -> None:
        self.seen.append((call, Path(os.readlink(f"/proc/self/fd/{descriptor}"))))
