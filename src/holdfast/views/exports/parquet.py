"""Parquet: a table of the results, written in groups of rows, so that memory does not grow with the job.

A column has the type that all of its values have: numbers, truth values, text, lists of text. Where they differ, or are
objects, it is text in JSON. The same results give the same bytes with the same version of pyarrow.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.derived import FLAGS, MARKDOWN, TEXT
from holdfast.model.spelling import install
from holdfast.model.target import PageRow
from holdfast.recipe.kind import Kind
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import Form
from holdfast.views.results import Results

FORM = Form(name="parquet", ending=".parquet", place=60, title="a Parquet file", is_text=False)

ROWS_PER_GROUP = 1_000
TEXTS = "list of text"
DERIVED_TYPES: dict[str, str] = {MARKDOWN: "str", TEXT: "str", FLAGS: TEXTS}


class AppendedFile(io.RawIOBase):
    """A file that is written from its beginning to its end, as pyarrow and zipfile want one."""

    def __init__(self, write: Write) -> None:
        super().__init__()
        self._write, self._at = write, 0

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        taken = bytes(block)
        self._write(taken)
        self._at += len(taken)
        return len(taken)

    def tell(self) -> int:
        return self._at


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    return write_parquet(asked.results, out, rows)


def check_early(kind: Kind, path: Path | None) -> None:
    if find_spec("pyarrow") is None:
        raise BadParams("Parquet needs pyarrow", hint=install("parquet"))


def write_parquet(results: Results, write: Write, rows: Iterable[PageRow] | None = None) -> int:
    """One row per result; answers how many."""
    if rows is not None:
        raise BadParams("a Parquet file is written as a whole and cannot be followed: --follow is for jsonl and csv")
    check_early(results.kind, None)
    import pyarrow
    from pyarrow import parquet

    types = _types(results)
    known = {"bool": pyarrow.bool_(), "int": pyarrow.int64(), "float": pyarrow.float64()}
    known[TEXTS] = pyarrow.list_(pyarrow.string())
    schema = pyarrow.schema([(name, known.get(kind, pyarrow.string())) for name, kind in types.items()])
    objects, written = results.objects(), 0
    with parquet.ParquetWriter(AppendedFile(write), schema, compression="zstd", version="2.6") as writer:
        while group := list(islice(objects, ROWS_PER_GROUP)):
            cells = [{name: _cell(shaped.get(name), kind) for name, kind in types.items()} for shaped in group]
            writer.write_table(pyarrow.Table.from_pylist(cells, schema=schema))
            written += len(group)
    return written


def _types(results: Results) -> dict[str, str]:
    """The type of each column, from a first look at the records; nothing is derived for it."""
    found: dict[str, set[str]] = {name: set() for name in results.columns()}
    for name, value in _values(results):
        if name in found and value is not None and name not in DERIVED_TYPES:
            found[name].add(_type_of(value))
    columns = set(results.kind.columns or ())
    derived = {name: kind for name, kind in DERIVED_TYPES.items() if name in found and (name in columns or not columns)}
    return {name: kinds.pop() if len(kinds) == 1 else "json" for name, kinds in found.items()} | derived


def _values(results: Results) -> Iterator[tuple[str, Any]]:
    kind, named = results.kind, results.fields.names
    for row in results.rows():
        yield from kind.result(row).items()
        yield from ((name, read(row)) for name, read in kind.on_request.items() if name in named)
        yield from (("duplicate_of", row.duplicate_of), ("near_duplicate_of", row.near_duplicate_of), ("key", ""))


def _type_of(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return TEXTS if all(isinstance(each, str) for each in value) else "json"
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return "json"
    kind = type(value).__name__
    return kind if kind in ("str", "bool", "int", "float") else "json"


def _cell(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind in ("bool", "int", "float"):
        return value
    if kind == TEXTS:
        return [_whole(each) for each in value]
    return _whole(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which no Parquet file can carry."""
    return text.encode("utf-8", "replace").decode()
