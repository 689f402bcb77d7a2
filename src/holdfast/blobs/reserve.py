"""A few MB kept to be given up: when the disk is full, deleting them makes room to write the pause itself."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from holdfast.blobs.publish import file_mode

RESERVE_BYTES = 4 * 1024 * 1024


class Reserve:
    """One file of that size. Where it cannot be had, there is none, and work goes on without it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self) -> bool:
        """Whether it is there now."""
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, file_mode(self._path.parent))
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            finally:
                os.close(descriptor)
        except OSError:
            self.give_up()
            return False
        return True

    def give_up(self) -> None:
        with suppress(OSError):  # a disk that lets nothing be written lets nothing be taken away either
            self._path.unlink()
