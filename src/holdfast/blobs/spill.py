"""Sorting more rows than memory holds: sorted runs in unnamed files, merged as they are read."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

R = TypeVar("R")

ROWS_PER_RUN = 50_000
LENGTH_BYTES = 4

_encode = msgspec.msgpack.Encoder().encode


def in_order(
    rows: Iterable[R],
    folder: Path,
    *,
    kind: Any,
    key: Callable[[R], Any],
    reverse: bool = False,
    rows_per_run: int = ROWS_PER_RUN,
) -> Iterator[R]:
    """The rows, all of this type, by their key; those of equal keys as they came. The files have no name in `folder`,
    so that a killed process leaves nothing behind."""
    source, decode = iter(rows), msgspec.msgpack.Decoder(kind).decode
    with ExitStack() as files:
        runs: list[BinaryIO] = []
        while run := sorted(islice(source, rows_per_run), key=key, reverse=reverse):
            if not runs and len(run) < rows_per_run:
                yield from run
                return
            file = files.enter_context(tempfile.TemporaryFile(dir=folder))
            for row in run:
                packed = _encode(row)
                file.write(len(packed).to_bytes(LENGTH_BYTES, "big") + packed)
            file.seek(0)
            runs.append(file)
        yield from heapq.merge(*(_rows_of(file, decode) for file in runs), key=key, reverse=reverse)


def _rows_of(file: BinaryIO, decode: Callable[[bytes], R]) -> Iterator[R]:
    while length := file.read(LENGTH_BYTES):
        yield decode(file.read(int.from_bytes(length, "big")))
