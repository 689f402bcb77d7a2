"""JSON Lines: one object per result."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from holdfast.model.target import PageRow
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import Form
from holdfast.views.results import Results

FORM = Form(name="jsonl", ending=".jsonl", place=20)


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    return write_jsonl(asked.results, out, rows)


def write_jsonl(results: Results, write: Write, rows: Iterable[PageRow] | None = None) -> int:
    """One object per line; answers how many. Of all results, unless they are handed in one by one."""
    if rows is not None:
        results.refuse_duplicates()
    encoder = msgspec.json.Encoder()
    written = 0
    for shaped in results.objects(rows):
        write(encoder.encode(shaped) + b"\n")
        written += 1
    return written
