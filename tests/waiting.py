"""Waiting for something that another process does: until it holds, never for a length of time."""

from __future__ import annotations

import threading
from collections.abc import Callable

EVERY_S = 0.005


def wait_until(holds: Callable[[], object], seconds: float, what: str = "") -> None:
    """Return as soon as it holds; fail after so many seconds."""
    never = threading.Event()
    for _ in range(round(seconds / EVERY_S)):
        if holds():
            return
        never.wait(EVERY_S)
    assert holds(), f"not within {seconds:g} s: {what or holds}"
