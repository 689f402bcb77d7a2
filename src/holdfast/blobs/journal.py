"""A job's log on the disk: whole lines appended by any number of processes, in parts of bounded size.

Logging is best effort: a disk that takes no more lines costs lines and stops no work.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.blobs.publish import file_mode, folder_mode
from holdfast.clock import Clock
from holdfast.model.logline import log_line

PART_BYTES_MAX = 10_000_000
PARTS_KEPT = 5
READ_BYTES = 1 << 20
MEGABYTE = 1_000_000
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class FileJournal:
    """Fulfils ports.Journal for one job: `logs/J-7f3a.1.log` and on. `debug`: whether debug lines are wanted."""

    def __init__(self, folder: Path, uid: str, clock: Clock, *, debug: bool = False) -> None:
        self._folder, self._uid, self._clock, self.debug = folder, uid, clock, debug
        self._descriptor: int | None = None
        self._pid = 0

    def __call__(self, level: str, phase: str, **fields: Any) -> None:
        if level == "debug" and not self.debug:
            return
        if phase == "RUN":
            fields["free_mb"] = self._free_mb()
        line = log_line(self._clock.wall_ms(), level, phase, {"job": self._uid, **fields})
        with suppress(OSError):
            os.write(self._open(), f"{line}\n".encode(errors="backslashreplace"))

    def close(self) -> None:
        if self._descriptor is not None and self._pid == os.getpid():
            with suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = None

    def _open(self) -> int:
        """The newest part, or the next one where it is full. A fork opens its own."""
        if self._descriptor is not None and self._pid == os.getpid():
            if os.fstat(self._descriptor).st_size < PART_BYTES_MAX:
                return self._descriptor
            self.close()
        self._folder.mkdir(folder_mode(self._folder.parent), exist_ok=True)
        parts = parts_of(self._folder, self._uid)
        number = _number(parts[-1]) if parts else 1
        if parts and parts[-1].stat().st_size >= PART_BYTES_MAX:
            number += 1
            for old in parts[: -PARTS_KEPT + 1]:
                old.unlink(missing_ok=True)
        self._descriptor = os.open(self._folder / f"{self._uid}.{number}.log", APPEND, file_mode(self._folder))
        self._pid = os.getpid()
        return self._descriptor

    def _free_mb(self) -> int | None:
        with suppress(OSError):
            return int(shutil.disk_usage(self._folder.parent).free / MEGABYTE)
        return None


def parts_of(folder: Path, uid: str) -> list[Path]:
    """The parts of a job's log, oldest first."""
    return sorted(folder.glob(f"{uid}.*.log"), key=_number)


def _number(part: Path) -> int:
    text = part.suffixes[-2][1:] if len(part.suffixes) > 1 else ""
    return int(text) if text.isdigit() else 0


class JournalReader:
    """Reads a job's log from its beginning; asked again, it goes on where it was."""

    def __init__(self, folder: Path, uid: str) -> None:
        self._folder, self._uid = folder, uid
        self._part, self._offset, self._rest = 0, 0, b""

    def lines(self) -> Iterator[str]:
        """What was written since; a line that is not whole yet comes the next time."""
        for part in parts_of(self._folder, self._uid):
            if _number(part) < self._part:
                continue
            if _number(part) > self._part:
                self._part, self._offset, self._rest = _number(part), 0, b""
            yield from self._more(part)

    def _more(self, part: Path) -> Iterator[str]:
        with suppress(FileNotFoundError), part.open("rb") as file:
            file.seek(self._offset)
            while block := file.read(READ_BYTES):
                self._offset += len(block)
                *whole, self._rest = (self._rest + block).split(b"\n")
                yield from (line.decode(errors="replace") for line in whole)
