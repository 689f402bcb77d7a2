"""WARC: every stored page as it was answered, in the order of the URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.errors import BadParams
from holdfast.model.outcome import BodyRef, body_of
from holdfast.model.target import PageRow
from holdfast.ports import Archive
from holdfast.views.exports.form import Write
from holdfast.views.results import Results


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
