"""Unnamed files, and sorting more rows than memory holds: sorted runs in such files, merged as they are read, and
before that where there are more of them than a process may have open."""

from __future__ import annotations

import heapq
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from holdfast.blobs.publish import refusal

R = TypeVar("R")

ROWS_PER_RUN = 50_000
RUNS_MAX = 64  # open at once, of each level: so many become one of the next
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
        levels: list[list[BinaryIO]] = []  # runs in the order of their rows, those of higher levels before

        def merged(runs: Iterable[BinaryIO]) -> Iterator[R]:
            return heapq.merge(*(_rows_of(file, decode) for file in runs), key=key, reverse=reverse)

        def keep(run: Iterable[R], level: int) -> None:
            if level == len(levels):
                levels.append([])
            levels[level].append(files.enter_context(_filled(folder, run)))
            if len(levels[level]) == RUNS_MAX:
                keep(merged(levels[level]), level + 1)
                for file in levels[level]:
                    file.close()
                levels[level] = []

        while run := sorted(islice(source, rows_per_run), key=key, reverse=reverse):
            if not levels and len(run) < rows_per_run:
                yield from run
                return
            keep(run, 0)
        yield from merged(file for level in reversed(levels) for file in level)


def unnamed_file(folder: Path) -> BinaryIO:
    """A file that has no name in `folder`: a killed process leaves nothing behind. What the disk refuses is told as a
    refusal of this folder, not of what is written meanwhile."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as made:
            return io.BufferedRandom(_UnnamedFile(os.dup(made.fileno()), folder))
    except OSError as error:
        raise refusal(error, folder) from error


class _UnnamedFile(io.FileIO):
    def __init__(self, descriptor: int, folder: Path) -> None:
        super().__init__(descriptor, "r+")
        self._folder = folder

    def write(self, block: Any, /) -> int:
        try:
            return super().write(block)
        except OSError as error:
            raise refusal(error, self._folder) from error


def _filled(folder: Path, rows: Iterable[Any]) -> BinaryIO:
    file = unnamed_file(folder)
    try:
        for row in rows:
            packed = _encode(row)
            file.write(len(packed).to_bytes(LENGTH_BYTES, "big") + packed)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _rows_of(file: BinaryIO, decode: Callable[[bytes], R]) -> Iterator[R]:
    while length := file.read(LENGTH_BYTES):
        yield decode(file.read(int.from_bytes(length, "big")))
