"""Waiting for something that another process does: until it holds, never for a length of time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

EVERY_S = 0.005
STILL_S_MAX = 30.0


def wait_until(holds: Callable[[], object], seconds: float, what: str = "") -> None:
    """Return as soon as it holds; fail after so many seconds."""
    never = threading.Event()
    for _ in range(round(seconds / EVERY_S)):
        if holds():
            return
        never.wait(EVERY_S)
    assert holds(), f"not within {seconds:g} s: {what or holds}"


def stop(pid: int) -> None:
    """SIGSTOP, and until every thread stands still: one that is inside a call, say takes a lock, ends that first."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(map(_is_still, Path(f"/proc/{pid}/task").iterdir())), STILL_S_MAX, f"{pid} stands still")


def _is_still(thread: Path) -> bool:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except FileNotFoundError:  # it ended meanwhile
        return True
