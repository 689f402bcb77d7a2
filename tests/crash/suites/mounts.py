"""A filesystem of a test's own in a loop-mounted image, whose power can be cut: ext4 or XFS. Needs root.

The mounts live in a mount namespace that only this process and its children see, so the kernel takes them away with
the last of them, however it dies. A cut keeps what was made durable and nothing else; it makes no torn writes.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from servers import need_root, need_tool
from waiting import wait_until

FILESYSTEMS = ("ext4", "xfs")
IMAGE_BYTES = 400 << 20  # sparse; XFS wants 300 MB at least
NEW_NAMESPACE = 0x00020000  # CLONE_NEWNS
SHUTDOWN = 0x8004587D  # XFS_IOC_GOINGDOWN, which ext4 has under the same number
WITHOUT_LOG_FLUSH = struct.pack("I", 2)
BUSY_S_MAX = 10.0


class Disk:
    """An empty filesystem, mounted at `at` from the beginning; `cut` and `restore` are the power going and coming."""

    def __init__(self, kind: str, image: Path, at: Path) -> None:
        self._image, self.at = image, at
        with image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        _run(need_tool(f"mkfs.{kind}"), "-q", "-F" if kind == "ext4" else "-f", str(image))
        at.mkdir(exist_ok=True)
        self._is_mounted = False
        self._mount()

    def cut(self) -> None:
        """From here on nothing reaches the disk, not even the journal, and every write is refused."""
        descriptor = os.open(self.at, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, WITHOUT_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def flush(self) -> None:
        """Everything that was written so far is on the disk."""
        _run("sync", "--file-system", str(self.at))

    def restore(self) -> None:
        """The same disk after the power came back. Whoever had files open on it must be gone."""
        self.unmount()
        self._mount()

    def unmount(self) -> None:
        if self._is_mounted:
            wait_until(lambda: _succeeds("umount", str(self.at)), BUSY_S_MAX, f"{self.at} is not in use any more")
            self._is_mounted = False

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.at))
        self._is_mounted = True


@contextmanager
def disk(kind: str, image: Path, at: Path) -> Iterator[Disk]:
    """The image is made anew, and is gone at the end."""
    own_namespace()
    made = Disk(kind, image, at)
    try:
        yield made
    finally:
        made.unmount()
        image.unlink()


@cache
def own_namespace() -> None:
    """Once per process, for the thread that calls and all it starts from then on; who is there before sees no mount."""
    need_root()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_NAMESPACE) != 0:
        raise OSError(ctypes.get_errno(), "no mount namespace")
    _run("mount", "--make-rprivate", "/")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
