"""What a world was asked for, read while it is still being asked: the witness that the demo and the selftest follow.

Reads the request log from where it stopped last, so that looking every few milliseconds costs nothing. Never writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from holdfast.audit.witness import Ask

NOT_PAGES = ("/robots.txt",)
READ_BYTES = 1 << 20


class Asks:
    """All requests so far, in order of arrival, without robots.txt. `look()` takes in what is new."""

    def __init__(self, log_path: Path) -> None:
        self._fd = os.open(log_path, os.O_RDONLY | os.O_CLOEXEC)
        self._rest = b""
        self.all: list[Ask] = []

    def look(self) -> int:
        """How many there are by now."""
        while part := os.read(self._fd, READ_BYTES):
            *lines, self._rest = (self._rest + part).split(b"\n")
            self.all += [row for line in lines if _is_page(row := json.loads(line))]
        return len(self.all)

    def since(self, first: int) -> tuple[Ask, ...]:
        self.look()
        return tuple(self.all[first:])

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _is_page(row: Ask) -> bool:
    return row["kind"] == "ask" and not row["key"].endswith(NOT_PAGES)
