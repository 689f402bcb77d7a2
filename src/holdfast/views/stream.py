"""Results as they are committed, for readers who cannot wait for the end; with a name, from where it stopped last time.

At least once: a result counts as read when the reader asks for the next one, and what was read is saved once a second.
A reader that is killed gets again what it read since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.clock import Clock, pause_thread
from holdfast.engine.patience import repeated
from holdfast.model.bookmark import Bookmark, Fresh
from holdfast.model.target import PageRow
from holdfast.policy.filters import Condition
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of
from holdfast.views.results import results_only

ROWS_AT_ONCE = 500
SAVE_EVERY_MS = 1000
POLL_S = 0.1
TRIES = 6


class Stream:
    """One reader of one job's results. Without a consumer's name it begins at the beginning, or where it is told to,
    and saves nothing."""

    def __init__(
        self,
        ledger: Ledger,
        job: int,
        clock: Clock,
        *,
        consumer: str | None = None,
        where: Sequence[Condition] = (),
        since: Bookmark | None = None,
    ) -> None:
        self._ledger, self._job, self._clock, self._consumer = ledger, job, clock, consumer
        self._where = results_only(kind_of(ledger.job(job)), where)
        self._mark = since or Bookmark() if consumer is None else ledger.bookmark(job, consumer)
        self._saved, self._saved_ms = self._mark, clock.monotonic_ms()

    def follow(self, is_over: Callable[[], bool], wait: Callable[[float], None] = pause_thread) -> Iterator[PageRow]:
        """Every result, until the job is over and all of them are read."""
        try:
            while True:
                over = is_over()  # asked first: a worker that is over has committed everything
                yield from self._committed()
                if over:
                    return
                self._save_when_due()
                wait(POLL_S)
        finally:
            self.save()

    def save(self) -> None:
        """Keep where this reader stands."""
        if self._consumer is None or self._mark == self._saved:
            return
        consumer, mark = self._consumer, self._mark
        repeated(lambda: self._ledger.save_bookmark(self._job, consumer, mark), tries=TRIES)
        self._saved, self._saved_ms = mark, self._clock.monotonic_ms()

    def _committed(self) -> Iterator[PageRow]:
        """What is committed and not read yet, until there is no more of it."""
        while True:
            rows, reached = repeated(self._read, tries=TRIES)
            begun = 0
            for each in rows:
                if begun not in (0, each.chunk):
                    self._mark = Bookmark({**self._mark.commits, begun: reached.commits[begun]})
                begun = each.chunk
                yield each.row
                self._mark = self._mark.after(each)
                self._save_when_due()
            if reached == self._mark:
                return
            self._mark = reached

    def _read(self) -> tuple[list[Fresh], Bookmark]:
        return self._ledger.fresh(self._job, self._mark, where=self._where, limit=ROWS_AT_ONCE)

    def _save_when_due(self) -> None:
        if self._clock.monotonic_ms() - self._saved_ms >= SAVE_EVERY_MS:
            self.save()
