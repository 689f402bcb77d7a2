"""The threads that run blocking calls of a step (`asyncio.to_thread`) and look up names.

No thread can be ended from outside, and asyncio waits for all of them without a limit before it closes its loop, even
when everything is saved. Here they are waited for like a page in hand: until the deadline of a stopping session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

NAME = "holdfast-step"
LOOK_EVERY_S = 0.05


class StepThreads(ThreadPoolExecutor):
    """The default executor of a session's loop. `is_late`: the deadline for waiting has passed."""

    def __init__(self, is_late: Callable[[], bool]) -> None:
        super().__init__(thread_name_prefix=NAME)
        self._is_late = is_late
        self._begun: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self._begun.add(future)
        future.add_done_callback(self._begun.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What still runs when it is late is left to itself; what had not begun never begins."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        if wait:
            left = self._left()
            super().shutdown(wait=not left, cancel_futures=left)

    def _left(self) -> bool:
        while self._begun:
            if self._is_late():
                return True
            wait(list(self._begun), timeout=LOOK_EVERY_S)
        return False


def are_left() -> bool:
    """Whether some still run; Python waits for them at its end."""
    return any(thread.name.startswith(NAME) for thread in threading.enumerate())
