"""`crawl -o -`: each result goes to stdout once it is committed, from a thread with a ledger of its own.

Results of this run, not of runs that have ended. How much of an interrupted run was written is unknown, so its results
come again. If the job is over and nothing is worked, its results are written at the end.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.start.outputs import Output, write_results
from holdfast.model.bookmark import Bookmark
from holdfast.model.job import Counts, Job
from holdfast.model.target import PageRow
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of
from holdfast.views.stream import POLL_S, Stream


@dataclass(slots=True)
class Left:
    """What is left to be written when the command ends; None: nothing. True once the flow has ended."""

    output: Output | None


@contextmanager
def streaming(call: Call, ledger: Ledger, job: Job, output: Output | None) -> Iterator[Left]:
    """While this is open results flow."""
    if output is None or output.path is not None or call.console.out.isatty() or not _flows(job, output.form):
        yield Left(output)
        return
    flow, left = _Flow(call, job, output, *_begins(ledger, job)), Left(None)
    flow.start()
    try:
        yield left
    finally:
        flow.finish()
    if not flow.written:
        if ledger.job(job.id).run == job.run:
            left.output = output
        else:
            write_results(call, ledger, job, Counts(), output, rows=())


def _begins(ledger: Ledger, job: Job) -> tuple[Bookmark, int]:
    """Where the flow begins, and the first run whose results belong to it."""
    cut_off = None
    for run in sorted(ledger.runs(job.id), key=lambda run: -run.n):
        if run.ended_at is not None and run.stop_reason != "crash":
            break
        cut_off = run.n
    return (ledger.everything(job.id), 0) if cut_off is None else (Bookmark(), cut_off)


def _flows(job: Job, form: str) -> bool:
    """A table needs the names of its columns before its first line; an archive all of its pages."""
    return form in kind_of(job).streams


class _Flow(threading.Thread):
    """Writes what is committed until it is told that there will be no more."""

    def __init__(self, call: Call, job: Job, output: Output, since: Bookmark, first_run: int) -> None:
        super().__init__(name="results", daemon=True)
        self._call, self._job, self._output = call, job, output
        self._since, self._first_run = since, first_run
        self.written = 0
        self._over = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        call = self._call
        try:
            ledger = wiring.open_ledger(call.settings)
            try:
                rows = self._rows(ledger)
                for first in rows:  # the head of a table is not written before there is a line
                    every = chain([first], rows)
                    write_results(call, ledger, self._job, Counts(), self._output, rows=every, apart=True)
            finally:
                ledger.close()
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that works the job
            self._error = error
            if not self._over.is_set():
                os.kill(os.getpid(), signal.SIGTERM)  # the reader is gone: stop as for another signal, nothing is lost

    def _rows(self, ledger: Ledger) -> Iterator[PageRow]:
        stream = Stream(ledger, self._job.id, self._call.clock, since=self._since)
        for row in stream.follow(self._over.is_set, self._wait):
            if row.run >= self._first_run:
                self.written += 1
                yield row

    def finish(self) -> None:
        self._over.set()
        self.join()
        if self._error is not None:
            raise self._error

    def _wait(self, _: float) -> None:
        self._call.console.out.flush()
        self._over.wait(POLL_S)
