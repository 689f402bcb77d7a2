"""Exports of a site job: one line of JSON per succeeded page, each once, in discovery order. Reads, never settles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from holdfast.model.page import page_object
from holdfast.model.target import PageRow
from holdfast.ports import Views

ROWS_AT_ONCE = 500
FORMATS = ("jsonl",)


def write_jsonl(views: Views, job: int, write: Callable[[bytes], object]) -> int:
    """Write every page that is committed when its turn comes; answers how many. Memory does not grow with them."""
    encoder = msgspec.json.Encoder()
    written = 0
    for row in every_page(views, job):
        write(encoder.encode(page_object(row)) + b"\n")
        written += 1
    return written


def every_page(views: Views, job: int) -> Iterator[PageRow]:
    """All succeeded pages, a bounded number at a time."""
    after = 0
    while rows := views.pages(job, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].target
