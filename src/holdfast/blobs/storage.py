"""The data folder beside the ledger, as control and views are handed it. Fulfils ports.Storage."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from holdfast.blobs import shelf
from holdfast.blobs.archive import WarcArchive
from holdfast.blobs.batch import Filling, publish_all
from holdfast.blobs.file_shelf import FolderShelf
from holdfast.blobs.folder import Folder
from holdfast.blobs.publish import publish
from holdfast.blobs.segments import Segments
from holdfast.blobs.spill import ROWS_PER_RUN, in_order, unnamed_file

R = TypeVar("R")

READER = "reader"  # named as a writer for readers, which write no segment


class FolderStorage(msgspec.Struct, frozen=True):
    """`software` is what a WARC file says that it was written by. `output`: the file or folder that is written from it,
    beside which unnamed files lie."""

    data: Path
    segments: Path
    artifacts: Path
    snapshots: Path
    software: str
    output: Path | None = None

    @property
    def shelf(self) -> shelf.SegmentShelf:
        return shelf.SegmentShelf(self.segments)

    @property
    def files(self) -> FolderShelf:
        return FolderShelf(self.artifacts)

    def bodies(self, uid: str) -> Segments:
        return Segments(self.segments, uid, READER)

    def archive(self, uid: str, *, dated_ms: int | None) -> WarcArchive:
        return WarcArchive(self.bodies(uid), self._room, software=self.software, dated_ms=dated_ms)

    def opened(self, path: Path) -> AbstractContextManager[BinaryIO]:
        return shelf.opened(path)

    def write_file(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        publish(path, write, ours=self.holds(path))

    def write_files(self, files: Iterable[Filling], place: Path) -> None:
        publish_all(files, place, ours=self.holds(place))

    def holds(self, path: Path) -> bool:
        return self.data.resolve() in path.resolve().parents

    def folder(self, path: Path, *, is_ours: Callable[[str], bool], start: bytes) -> Folder:
        return Folder(path, is_ours=is_ours, start=start)

    def in_order(
        self,
        rows: Iterable[R],
        *,
        kind: Any,
        key: Callable[[R], Any],
        reverse: bool = False,
        rows_per_run: int | None = None,
    ) -> Iterator[R]:
        size = rows_per_run or ROWS_PER_RUN
        return in_order(rows, self._room, kind=kind, key=key, reverse=reverse, rows_per_run=size)

    def unnamed_file(self) -> BinaryIO:
        return unnamed_file(self._room)

    @property
    def _room(self) -> Path:
        """Where unnamed files lie. What goes to stdout has the data folder; one that can only be read has no room."""
        if self.output is not None:
            return self.output if self.output.is_dir() else self.output.parent
        return self.data if os.access(self.data, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
