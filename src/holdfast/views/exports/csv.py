"""CSV: a line of names, then one line per result; no cell is a formula."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.errors import BadParams, Refused
from holdfast.model.cells import csv_line
from holdfast.model.target import PageRow
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import Form
from holdfast.views.results import Results

FORM = Form(name="csv", ending=".csv", place=30)


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    return write_csv(asked.results, out, rows)


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
    for shaped in results.objects(rows):
        if not known.issuperset(shaped):
            new = next(name for name in shaped if name not in known)
            raise Refused(f"results with the new field {new!r} came in meanwhile", hint="again, or name the --fields")
        write(csv_line(shaped.get(name) for name in columns))
        written += 1
    return written
