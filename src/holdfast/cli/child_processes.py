"""Processes that steps began with `multiprocessing` and left running when their command ends.

Python waits for them at its end, without a limit. They get the time that pages in hand get by default; then the command
ends all the same, because everything is saved and said.
"""

from __future__ import annotations

import multiprocessing
import os
import threading

from holdfast.clock import pause_thread

CHILDREN_S_MAX = 10.0
STDERR = 2


def leave_behind(code: int) -> None:
    """From now on this process lives no longer than that, whatever it waits for; it ends with that exit code."""
    left = [child.pid for child in multiprocessing.active_children() if not child.daemon]
    if left:
        threading.Thread(target=_leave, args=(code, left), name="leaving", daemon=True).start()


def _leave(code: int, left: list[int | None]) -> None:
    pause_thread(CHILDREN_S_MAX)
    pids = ", ".join(str(pid) for pid in left)
    os.write(STDERR, f"Processes that the recipe began are left running: pid {pids}\n".encode())
    os._exit(code)
