"""The data folder beside the ledger: stored bodies, snapshots, and room for rows that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from holdfast.ports.blobs import Archive, Blobs
from holdfast.ports.copies import FileShelf, Shelf

R = TypeVar("R")


class PageFolder(Protocol):
    """Where an export of many files puts them."""

    def put(self, name: str, file: bytes) -> None:
        """Put a file in its place, unless it is there already."""

    def list(self, line: bytes) -> None:
        """Add a line to the index, which appears when all is done."""

    def finish(self) -> None:
        """Write the index, and remove what earlier exports wrote and this one did not."""

    def close(self) -> None: ...


class FileWriter(Protocol):
    """Publishes files where users asked for them."""

    def write_file(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        """Write a file whole or not at all. One that lies in the data folder is as private as that."""

    def write_files(self, files: Iterable[tuple[Path, Callable[[BinaryIO], object]]], place: Path) -> None:
        """The same of many files below `place`, which wait for the disk together."""

    def folder(self, path: Path, *, is_ours: Callable[[str], bool], start: bytes) -> PageFolder:
        """A folder of exported files, held by this export alone; the caller closes it. `is_ours` tells names that could
        be of an export, `start` is how each of them begins."""


class Storage(FileWriter, Protocol):
    """Where stored bodies are read, snapshots lie, files are published and many rows are sorted."""

    @property
    def snapshots(self) -> Path:
        """Where snapshots go that no place was named for."""

    @property
    def artifacts(self) -> Path:
        """Where files of their own lie, and lists."""

    @property
    def shelf(self) -> Shelf: ...

    @property
    def files(self) -> FileShelf: ...

    def bodies(self, uid: str) -> Blobs:
        """The bodies of a job, to be read; the caller closes it."""

    def archive(self, uid: str, *, dated_ms: int | None) -> Archive:
        """A WARC file of stored pages; `dated_ms`: all of it is dated so."""

    def opened(self, path: Path) -> AbstractContextManager[BinaryIO]:
        """A file that a user named, to be read."""

    def in_order(
        self,
        rows: Iterable[R],
        *,
        kind: Any,
        key: Callable[[R], Any],
        reverse: bool = False,
        rows_per_run: int | None = None,
    ) -> Iterator[R]:
        """The rows, all of this type, by their key; those of equal keys as they came. More than `rows_per_run` are put
        into unnamed files meanwhile."""

    def unnamed_file(self) -> BinaryIO:
        """Room for what does not fit into memory, beside what is written. The caller closes it, and it is gone."""
