"""`--jsonl` while a job is worked or watched: what happened, read by a connection of its own, where it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.screens import News
from holdfast.cli.text import to_json
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Job


@contextmanager
def news_of(call: Call, job: Job) -> Iterator[News]:
    """How to get what is new; the screen's last look, as it goes down, tells the rest."""
    if not call.globals.jsonl:
        yield tuple
        return
    from holdfast.engine import news

    ledger = wiring.open_to_look(call.settings)
    try:
        reel = news.News(ledger, job)

        def look() -> Iterator[dict[str, Any]]:
            with suppress(LedgerUnavailable):  # busy: the next look tells it
                yield from reel.look()

        yield look
        for event in look():  # the ledger was busy at that, or there is nothing
            call.voice.data(to_json(event))
    finally:
        ledger.close()
