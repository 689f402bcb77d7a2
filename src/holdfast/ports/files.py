"""Files of their own: where the body of a large answer goes, and how it gets its name before a row refers to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from holdfast.errors import BadParams
from holdfast.model.artifact import Artifact, Keep
from holdfast.model.exchange import Headers


class FileSink(Protocol):
    """Where a fetcher puts the body of one answer, piece by piece. Its calls do not wait for the disk."""

    def begin(self, status: int, headers: Headers) -> bool:
        """Called once, when the headers are known. False: the body is not wanted here, and is held in memory like any
        other. Raises where the answer cannot be used."""

    def write(self, chunk: bytes) -> None:
        """The next bytes. Raises DiskFull, or FetchError `body_too_large`; then the exchange ends with that."""


class FileContent(Protocol):
    """The bytes of a file that came in."""

    size: int

    @property
    def path(self) -> Path: ...

    def readable(self) -> Path:
        """The same, when all of it can be read there. A small file is written to the page cache for that."""

    def ends(self, size: int) -> tuple[bytes, bytes]:
        """Its first and last so many bytes, once it is whole. Does not wait for the disk."""

    @property
    def sha256(self) -> bytes:
        """Of all bytes, once it is whole."""


class PartialFile(FileSink, FileContent, Protocol):
    """A file being filled, and what an earlier try has left of it. Its methods but those of the sink may wait for the
    disk, and are called off the event loop."""

    @property
    def asking(self) -> Headers:
        """Range and If-Range for the rest; empty where all of it is wanted."""

    @property
    def is_left(self) -> bool:
        """Whether there is something of an earlier try. Does not wait for the disk."""

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way to the disk, so that `settle` does not wait for it."""

    def limit(self, bytes_max: int) -> None:
        """It may have so many bytes."""

    def take_up(self) -> None:
        """Continue what an earlier try left."""

    def whole(self) -> None:
        """All of it has come in. It may still be in memory. Does not wait for the disk where it `is_at_rest`."""

    def settle(self) -> None:
        """All of it can be read at `path`; raises what went wrong on its way."""

    def forget(self) -> None:
        """What is there is not wanted: the next request is for all of it."""

    def close(self, *, keep: bool) -> None:
        """Let go of it; `keep`: another try may continue it. May be repeated."""


class Keeping(msgspec.Struct, frozen=True):
    """A file that is to get its name before the commit of its target. `partial`: the one that was fetched; None where
    `keep.source` are bytes."""

    keep: Keep
    partial: PartialFile | None

    @property
    def size(self) -> int:
        return len(self.keep.source) if isinstance(self.keep.source, bytes) else self.keep.source.size


class Files(Protocol):
    """The files of one job."""

    def open(self, key: str, *, target: int, url: str, bytes_max: int) -> PartialFile:
        """A file to be filled. The same key and URL continue what an earlier try left, where the server still has it;
        without a URL the key alone says which file it is. Does not wait for the disk."""

    def keep(self, group: Sequence[Keeping]) -> list[Artifact | BadParams]:
        """Make files durable under their names: all are fsynced, then named, then each folder is fsynced once. May be
        repeated for those of a call that raised. BadParams, in its place: that one cannot have its name."""

    def close(self) -> None: ...
