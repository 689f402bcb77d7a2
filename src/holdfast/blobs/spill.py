"""Sorting more rows than memory holds: sorted runs in unnamed files, merged as they are read."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.model.outcome import BodyRef

Row = tuple[str, BodyRef]

ROWS_PER_RUN = 50_000
LENGTH_BYTES = 4

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, BodyRef]).decode


def in_order(rows: Iterable[Row], folder: Path, *, rows_per_run: int = ROWS_PER_RUN) -> Iterator[Row]:
    """The rows by their text. The files have no name in `folder`, so that a killed process leaves nothing behind."""
    source = iter(rows)
    with ExitStack() as files:
        runs: list[BinaryIO] = []
        while run := sorted(islice(source, rows_per_run), key=_text):
            if not runs and len(run) < rows_per_run:
                yield from run
                return
            file = files.enter_context(tempfile.TemporaryFile(dir=folder))
            for row in run:
                packed = _encode(row)
                file.write(len(packed).to_bytes(LENGTH_BYTES, "big") + packed)
            file.seek(0)
            runs.append(file)
        yield from heapq.merge(*map(_rows_of, runs), key=_text)


def _text(row: Row) -> str:
    return row[0]


def _rows_of(file: BinaryIO) -> Iterator[Row]:
    while length := file.read(LENGTH_BYTES):
        yield _decode(file.read(int.from_bytes(length, "big")))
