"""When a worker's commit writes a checkpoint: every so many targets of the *job*, or after so much time (CHK-01).

A worker that is alone counts what it settles. One of several counts its part, and then looks at the books, at most once
a second: what matters is what all of them have settled since the newest checkpoint, by any worker.
"""

from __future__ import annotations

from holdfast.clock import Clock
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Options
from holdfast.policy import checkpointing
from holdfast.ports import Ledger


class Checkpointer:
    """One worker's count. Asked by the ledger thread, once for every commit."""

    def __init__(self, job: int, options: Options, clock: Clock, *, workers: int = 1) -> None:
        self._job, self._options, self._clock, self._workers = job, options, clock, workers
        self._settled = 0  # of ours, since the newest checkpoint that we know
        self._newest = 0  # its number
        self._since_ms = clock.monotonic_ms()  # when we learnt of it, or began
        self._asked_ms: int | None = None

    def reason(self, ledger: Ledger, settling: int) -> str | None:
        """Why the commit of so many targets writes a checkpoint; None: it does not."""
        self._settled += settling
        part = -(-self._options.checkpoint_targets // self._workers)
        reason = self._due(self._settled, part, self._asked_ms)
        if reason is None or not settling:
            return None
        self._asked_ms = self._clock.monotonic_ms()
        if self._workers > 1:
            reason = self._by_the_books(ledger, settling)
        if reason is not None:
            self._written(self._newest + 1)
        return reason

    def _by_the_books(self, ledger: Ledger, settling: int) -> str | None:
        try:
            job, counts, point = ledger.books(self._job)
        except LedgerUnavailable:
            return None
        settled = counts.settled + settling
        if point is not None:
            if point.number != self._newest:
                self._written(point.number)
                self._settled = settling
            if point.generation == job.generation:
                settled -= point.counts.settled
        last = None if point is None or point.run != job.run else self._since_ms
        # What a retry puts back leaves the count of settled ones: then our own is the better one.
        return self._due(max(settled, self._settled), self._options.checkpoint_targets, last)

    def _due(self, settled: int, every_targets: int, last_ms: int | None) -> str | None:
        now = self._clock.monotonic_ms()
        return checkpointing.due(
            settled_since=settled,
            ms_since=now - self._since_ms,
            every_targets=every_targets,
            every_s=self._options.checkpoint_s,
            ms_since_last_written=None if last_ms is None else now - last_ms,
        )

    def _written(self, number: int) -> None:
        self._newest, self._since_ms, self._settled = number, self._clock.monotonic_ms(), 0
