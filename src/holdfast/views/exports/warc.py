"""WARC: every stored page as it was answered, in the order of the URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.errors import BadParams
from holdfast.model.outcome import BodyRef, body_of
from holdfast.model.target import PageRow
from holdfast.views.exports.form import Asked, Write, refuse_without_pages
from holdfast.views.exports.form_row import Form

FORM = Form(name="warc", ending=".warc.gz", place=40, title="a WARC file", is_text=False, noun="page")


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    """Every stored page as it was answered. A page of several records is in it once."""
    results = asked.results
    if rows is not None:
        raise BadParams("a WARC file is in the order of its URLs and cannot be followed: --follow is for jsonl and csv")
    if results.fields.names:
        raise BadParams("a WARC file holds whole answers: --fields is for jsonl and csv")
    archive = asked.storage.archive(results.job.uid, dated_ms=asked.dated_ms)
    written = archive.write(results.job, _stored(results.rows()), out)
    refuse_without_pages(results, written)
    return written


def _stored(rows: Iterable[PageRow]) -> Iterator[tuple[str, BodyRef]]:
    for row in rows:
        body = body_of(row) if row.n == 0 else None
        if body is not None:
            yield row.url, body
