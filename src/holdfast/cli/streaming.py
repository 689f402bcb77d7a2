"""`crawl -o -`: each result goes to stdout once it is committed, from a thread with a ledger of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.outputs import Output, write_results
from holdfast.engine.results import SITE
from holdfast.engine.stream import POLL_S, Stream
from holdfast.model.job import Counts, Job


@contextmanager
def streaming(call: Call, job: Job, output: Output | None) -> Iterator[Output | None]:
    """While this is open results flow; what is yielded is left to be written at the end (None: nothing)."""
    if output is None or output.path is not None or call.voice.out.isatty() or not _flows(job, output.form):
        yield output
        return
    flow = _Flow(call, job, output)
    flow.start()
    try:
        yield None
    finally:
        flow.finish()


def _flows(job: Job, form: str) -> bool:
    """A table needs the names of its columns before its first line; an archive all of its pages."""
    return form == "jsonl" or (form == "csv" and job.recipe == SITE)


class _Flow(threading.Thread):
    """Writes what is committed until it is told that there will be no more."""

    def __init__(self, call: Call, job: Job, output: Output) -> None:
        super().__init__(name="results", daemon=True)
        self._call, self._job, self._output = call, job, output
        self._over = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        call = self._call
        try:
            ledger = wiring.open_ledger(call.settings)
            try:
                rows = Stream(ledger, self._job.id, call.clock).follow(self._over.is_set, self._wait)
                write_results(call, ledger, self._job, Counts(), self._output, rows=rows)
            finally:
                ledger.close()
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that works the job
            self._error = error
            if not self._over.is_set():
                os.kill(os.getpid(), signal.SIGTERM)  # nobody reads on: stop as for any other signal, nothing is lost

    def finish(self) -> None:
        self._over.set()
        self.join()
        if self._error is not None:
            raise self._error

    def _wait(self, _: float) -> None:
        self._call.voice.out.flush()
        self._over.wait(POLL_S)
