"""Results for Python as they are committed: reads in the thread of whoever iterates, while another works the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from holdfast import wiring
from holdfast.client.values import Row
from holdfast.client.working import Shift, take_up
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.results import parse_fields
from holdfast.engine.stream import Stream
from holdfast.model.bookmark import check_consumer

GOING = ("pending", "in_progress")


def stream(settings: Settings, job: int, consumer: str | None, fields: str, *, work: bool) -> Iterator[Row]:
    """Every result once it is committed; with a shift of our own on the job where nobody else works it."""
    if consumer is not None:
        check_consumer(consumer)
    chosen = parse_fields(fields) if fields else None
    with closing(wiring.open_ledger(settings)) as ledger:
        now = ledger.books(job)[0]
        with wiring.results_of(settings, ledger, now, fields=chosen) as results:
            taken = take_up(settings, job) if work else None
            shift = taken if isinstance(taken, Shift) else None

            def is_over() -> bool:
                if shift is not None:
                    return shift.is_over()
                return ledger.books(job)[0].status not in GOING

            try:
                for row in Stream(ledger, job, SystemClock(), consumer=consumer).follow(is_over):
                    yield Row(results.shaped(row))
            except BaseException as error:
                if shift is not None:  # whoever stops reading stops the work; nothing is lost by it
                    shift.stop("pause" if isinstance(error, KeyboardInterrupt) else "drain")
                raise
            finally:
                if shift is not None:
                    shift.end()
