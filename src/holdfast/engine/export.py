"""Exports: the results of a job as one file, derived from the ledger alone. The same content gives the same bytes.

Lines are in discovery order, a WARC file is in the order of its URLs; what is committed when its turn comes is in it.
Memory does not grow with the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from holdfast.engine.results import Results
from holdfast.errors import BadParams, Refused
from holdfast.model.cells import csv_line
from holdfast.model.outcome import BodyRef, body_of
from holdfast.model.target import PageRow
from holdfast.ports import Archive, Views

if TYPE_CHECKING:
    from collections.abc import Iterable

ROWS_AT_ONCE = 500

Write = Callable[[bytes], object]


def write_jsonl(results: Results, write: Write, rows: Iterable[PageRow] | None = None) -> int:
    """One object per line; answers how many. Of all results, unless they are handed in one by one."""
    if rows is not None:
        results.refuse_duplicates()
    encoder = msgspec.json.Encoder()
    written = 0
    for row in results.rows() if rows is None else rows:
        write(encoder.encode(results.shaped(row)) + b"\n")
        written += 1
    return written


def write_csv(results: Results, write: Write, rows: Iterable[PageRow] | None = None) -> int:
    """A line of names, then one line per result; no cell is a formula."""
    if rows is not None and not results.has_known_fields:
        raise BadParams("the columns of results that are still to come are not known", hint="name them with --fields")
    if rows is not None:
        results.refuse_duplicates()
    columns = results.columns()
    known = frozenset(columns)
    write(csv_line(columns))
    written = 0
    for row in results.rows() if rows is None else rows:
        shaped = results.shaped(row)
        if not known.issuperset(shaped):
            new = next(name for name in shaped if name not in known)
            raise Refused(f"results with the new field {new!r} came in meanwhile", hint="again, or name the --fields")
        write(csv_line(shaped.get(name) for name in columns))
        written += 1
    return written


def write_warc(results: Results, archive: Archive, write: Write, rows: Iterable[PageRow] | None = None) -> int:
    """Every stored page as it was answered. A page of several records is in it once."""
    if rows is not None:
        raise BadParams("a WARC file is in the order of its URLs and cannot be followed: --follow is for jsonl and csv")
    if results.fields.names:
        raise BadParams("a WARC file holds whole answers: --fields is for jsonl and csv")
    return archive.write(results.job, _stored(results.rows()), write)


def _stored(rows: Iterable[PageRow]) -> Iterator[tuple[str, BodyRef]]:
    for row in rows:
        body = body_of(row) if row.n == 0 else None
        if body is not None:
            yield row.url, body


def every_page(views: Views, job: int) -> Iterator[PageRow]:
    """All succeeded pages, a bounded number at a time."""
    after = 0
    while rows := views.pages(job, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].target
