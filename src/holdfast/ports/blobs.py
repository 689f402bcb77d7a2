"""Bytes, kept before the commit that refers to them; files made of them; a job's log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from holdfast.model.exchange import ArchivedAnswer
from holdfast.model.job import Job
from holdfast.model.outcome import Body, BodyRef


class Blobs(Protocol):
    """Bytes, kept before the commit that refers to them."""

    def pack(self, body: Body) -> Body:
        """The same body, hashed and as it will be stored. It touches no file: any thread may do it ahead of time."""

    def append(self, bodies: Sequence[Body]) -> list[BodyRef]:
        """Store a group of bodies, packed or not; returns only when they are on the disk. Called from the ledger
        thread."""

    def read(self, reference: BodyRef) -> bytes:
        """The decoded body, checked against its sha256; Corrupt where it differs, NotFound where it is missing."""

    def answer(self, reference: BodyRef) -> Body:
        """The stored answer: its body, checked like `read`, with the URL, status, headers and time it came with."""

    def close(self) -> None: ...


class Archive(Protocol):
    """One WARC file, made of stored pages."""

    def write(self, job: Job, pages: Iterable[tuple[str, BodyRef]], write: Callable[[bytes], object]) -> int:
        """Write the pages in the order of their URLs, whatever order they come in; answers how many."""


class WebArchive(Protocol):
    """Archived answers of others, or of an earlier job, read in place of the web. Any thread may call it."""

    def find(self, url: str, bytes_max: int) -> ArchivedAnswer | None:
        """The latest answer for a canonical URL, not more of it than that many bytes; FetchError `not_archived` where
        it cannot be read any more."""

    def pages(self, start: int = 0) -> Iterator[str]:
        """The URLs of all HTML pages, always in the same order, from a number on."""

    def close(self) -> None: ...


class Journal(Protocol):
    """A job's log. Best effort: it never raises. `debug` says whether debug lines are wanted at all."""

    debug: bool

    def __call__(self, level: str, phase: str, **fields: Any) -> None: ...

    def close(self) -> None: ...
