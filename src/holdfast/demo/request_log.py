"""The witness: what was asked of a world and what it sent, one JSON line per write(2), outside Holdfast's ledger.

A request leaves two lines. `ask` is written before anything is answered, so a fetch that was cut is still seen;
`sent` follows when the answer ended, however it ended. Lines are not fsynced.
"""

import json
import os
import time
from pathlib import Path
from typing import Any


class RequestLog:
    """Numbers requests from 1. Opened on an existing file it goes on counting, so a restarted origin repeats none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seq = max((line["seq"] for line in read_log(path)), default=0) if path.exists() else 0
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def ask(self, key: str) -> tuple[int, int]:
        """Note the arrival; gives the request's number and its CLOCK_MONOTONIC time."""
        at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._seq += 1
        self._write({"kind": "ask", "seq": self._seq, "at_ns": at_ns, "key": key})
        return self._seq, at_ns

    def sent(self, seq: int, at_ns: int, key: str, *, status: int, body_bytes: int, complete: bool) -> None:
        """Note the end. `complete` means the whole body was handed to the socket, not that the client read it."""
        self._write(
            {
                "kind": "sent",
                "seq": seq,
                "at_ns": at_ns,
                "done_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC),
                "key": key,
                "status": status,
                "bytes": body_bytes,
                "complete": complete,
            }
        )

    def close(self) -> None:
        os.close(self._fd)

    def _write(self, line: dict[str, Any]) -> None:
        encoded = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        # A half-written line would make the witness lie, so the request fails instead.
        if os.write(self._fd, encoded) != len(encoded):
            raise OSError(f"request log {self.path} took only part of a line")


def read_log(path: Path) -> list[dict[str, Any]]:
    """All whole lines; a last line without its newline is still being written and is left out."""
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    return [json.loads(line) for line in whole.splitlines()]
