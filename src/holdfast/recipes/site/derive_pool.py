"""A few processes that derive pages, each served by a thread of its own; answers come in any order."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from holdfast.model.derived import Derived
from holdfast.recipes.site.derive_process import DeriveProcess

PROCESSES_MAX = 4


class DerivePool:
    """A `Deriver`. A process is started when there is a page for it."""

    def __init__(self, processes: int = 0) -> None:
        """No number: as many as there are processor cores for this process, up to a few."""
        self._size = processes or min(PROCESSES_MAX, len(os.sched_getaffinity(0)))
        self._threads: ThreadPoolExecutor | None = None
        self._own = threading.local()
        self._started: list[DeriveProcess] = []

    def submit(self, content: bytes, url: str, content_type: str) -> Future[Derived]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="derive")
        return self._threads.submit(self._derive, content, url, content_type)

    def close(self) -> None:
        """What was submitted and not begun is not derived any more."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for process in self._started:
            process.close()

    def _derive(self, content: bytes, url: str, content_type: str) -> Derived:
        process: DeriveProcess | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = DeriveProcess()
            self._started.append(process)
        return process(content, url, content_type)
