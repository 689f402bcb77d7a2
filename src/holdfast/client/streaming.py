"""Results for Python as they are committed: reads in the thread that iterates, while another works the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from holdfast import wiring
from holdfast.client.values import Row
from holdfast.client.working import Halt, Shift, take_up
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.recovery import holder_of
from holdfast.model.bookmark import check_consumer
from holdfast.ports import Ledger
from holdfast.views.exports.exporter import results_of
from holdfast.views.results import parse_fields
from holdfast.views.stream import Stream

GOING = ("pending", "in_progress")
ALONE_MS = 2000  # a job may be without a worker for this long while one hands over to another


class Workforce:
    """The worker of a job while its results are read: another process, or a shift of our own if there is none."""

    def __init__(self, settings: Settings, ledger: Ledger, job: int, halt: Halt, *, work: bool) -> None:
        self._settings, self._ledger, self._job, self._halt, self._work = settings, ledger, job, halt, work
        self._clock = SystemClock()
        self._seen_ms = self._clock.monotonic_ms()  # when we last saw a process work it
        self._shift: Shift | None = None
        if work:
            self._take_up(asked=True)

    def is_over(self) -> bool:
        """Whether nothing more is to be waited for. A worker that went away while the job goes on is replaced."""
        if self._halt.is_asked():
            return True
        if self._shift is not None and not self._shift.is_lost():
            return self._shift.is_over()
        now = self._ledger.job(self._job)
        if now.status not in GOING:
            return True
        if holder_of(self._ledger, now) is not None:
            self._seen_ms = self._clock.monotonic_ms()
            return False
        if not self._work:
            return self._clock.monotonic_ms() - self._seen_ms > ALONE_MS
        if now.status == "pending":
            return True  # it was sent back to its start
        self._take_up(asked=False)
        return False

    def dismiss(self, why: str) -> None:
        """A reader that stops ends our own work on the job. Pages in hand are finished first, and nothing is lost."""
        if self._shift is None:
            return
        if not self._shift.is_over():
            self._shift.stop(why)
        self._shift.end()

    def _take_up(self, *, asked: bool) -> None:
        taken = take_up(self._settings, self._job, asked=asked)
        self._shift = taken if isinstance(taken, Shift) else None


def stream(settings: Settings, job: int, consumer: str | None, fields: str, *, work: bool, halt: Halt) -> Iterator[Row]:
    """Every result once it is committed; with a shift of our own on the job if no other process works it."""
    if consumer is not None:
        check_consumer(consumer)
    chosen = parse_fields(fields) if fields else None
    with closing(wiring.open_to_look(settings)) as ledger:
        now = ledger.job(job)
        with results_of(wiring.storage(settings), ledger, now, fields=chosen, apart=work) as results:
            results.refuse_duplicates()
            workforce, why = Workforce(settings, ledger, job, halt, work=work), "drain"
            try:
                stream = Stream(ledger, job, SystemClock(), consumer=consumer)
                for row in results.exported(stream.follow(workforce.is_over, halt.wait)):
                    yield Row(results.shaped(row))
            except KeyboardInterrupt:
                why = "pause"
                raise
            finally:
                workforce.dismiss(why)
