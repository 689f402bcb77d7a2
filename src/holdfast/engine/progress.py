"""The progress of a session: what its listener is told, in numbers that the ledger has, and what the job waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from holdfast.clock import Clock
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.engine.waits import waited_for
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Counts, Job
from holdfast.ports import ProgressListener

PROGRESS_EVERY_MS = 200
WAITS_EVERY_MS = 1000


class ProgressReports:
    """Tells one listener of one job; without a listener, nothing is read."""

    def __init__(self, job: int, thread: LedgerThread, clock: Clock, listener: ProgressListener | None) -> None:
        self._job, self._thread, self._clock, self._listener = job, thread, clock, listener
        self._telling: asyncio.Task[None] | None = None
        self._told_ms = 0
        self._waits_ms = 0
        self.waiting = ""  # for what, as last told

    def after_commit(self, in_flight: Callable[[], int]) -> None:
        """Five times a second at most, and never while it is telling."""
        now = self._clock.monotonic_ms()
        if (
            self._listener is not None
            and now - self._told_ms >= PROGRESS_EVERY_MS
            and (self._telling is None or self._telling.done())
        ):
            self._told_ms = now
            self._telling = asyncio.get_running_loop().create_task(self.tell(in_flight))

    async def told(self) -> None:
        """What is being told is told to its end."""
        if self._telling is not None:
            await self._telling

    async def tell(self, in_flight: Callable[[], int]) -> None:
        """Numbers of one instant, read from the ledger after a commit; a ledger that is busy is asked next time."""
        if self._listener is None:
            return
        try:
            job, counts, point = await self._thread.call(lambda ledger: ledger.books(self._job))
            await self._look_what_it_waits_for(job, counts)
        except LedgerUnavailable:
            return
        self._listener(job, counts, in_flight(), point.number if point else None)

    async def _look_what_it_waits_for(self, job: Job, counts: Counts) -> None:
        """Once a second at most: it looks at every lane that has something to do."""
        now_ms = self._clock.monotonic_ms()
        if counts.in_progress:
            self.waiting = ""
        elif now_ms - self._waits_ms >= WAITS_EVERY_MS:
            self._waits_ms, wall_ms = now_ms, self._clock.wall_ms()
            self.waiting = await self._thread.call(lambda ledger: waited_for(ledger, job, counts, wall_ms))
