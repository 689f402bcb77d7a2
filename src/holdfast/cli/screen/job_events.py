"""`--jsonl` while a job is worked or watched: what happened, read by a connection of its own, where it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.screen.screens import ReadEvents
from holdfast.cli.screen.text import to_json
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Job


@contextmanager
def events_of(call: Call, job: Job) -> Iterator[ReadEvents]:
    """How to get what is new; the screen's last look, as it goes down, tells the rest."""
    if not call.globals.jsonl:
        yield tuple
        return
    from holdfast.views import job_events

    ledger = wiring.open_to_look(call.settings)
    try:
        events = job_events.JobEvents(ledger, job)

        def look() -> Iterator[dict[str, Any]]:
            with suppress(LedgerUnavailable):  # busy: the next look tells it
                yield from events.look()

        yield look
        for event in look():  # the ledger was busy at that, or there is nothing
            call.console.data(to_json(event))
    finally:
        ledger.close()
