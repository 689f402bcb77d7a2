"""Bodies whose bytes are gone, seen while the rows of a job pass, and which of them the job cannot do without.

It needs those that its results are made of, and those of the generation that counts. What was fetched again since, or
was told as lost and put back, is not demanded: it will never come back, and nothing but a rollback would look for it.
What is kept here grows with the loss, and not with the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from holdfast.errors import Corrupt
from holdfast.model.outcome import UNCHANGED
from holdfast.model.target import PageRow
from holdfast.ports import FileShelf, Shelf, Views


class Losses:
    """Whether the files of bodies have their bytes. Without a shelf nothing is checked, and nothing counts as lost."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self._sizes: dict[str, int] = {}
        self._found: dict[tuple[int, int], tuple[str, int]] = {}  # target, generation -> file, where it ends
        self._newest: dict[int, int] = {}  # of the targets that lost one: the generation of their last body

    def __len__(self) -> int:
        return len(self._found)

    def has(self, file: str, row: Mapping[str, Any]) -> bool:
        """Whether this body's bytes are gone. Rows come by target and generation."""
        target, generation, end = row["target"], row["gen"], row["off"] + row["len"]
        is_lost = self._is_beyond(file, end)
        if is_lost:
            self._found[target, generation] = file, end
        if is_lost or target in self._newest:
            self._newest[target] = generation
        return is_lost

    def needed(self, pages: Iterable[PageRow], targets: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
        """(file, where the body ends) of those that must be there: by the job's results, and by its targets."""
        for page in pages:
            if self._is_beyond(page.segment, page.offset + page.length):
                yield page.segment, page.offset + page.length
        for row in targets:
            newest = self._newest.get(row["id"])
            counts = (row["id"], newest if row["disposition"] == UNCHANGED and newest else row["gen"])
            if counts in self._found:
                yield self._found[counts]

    def _is_beyond(self, file: str, end: int) -> bool:
        if self._shelf is None:
            return False
        if file not in self._sizes:
            self._sizes[file] = self._shelf.size(file)
        return end > self._sizes[file]


class LostFiles:
    """Artifact files that are gone, cut short or spoiled; without a shelf nothing is checked. Grows with the loss only.

    A name may have had other bytes in an earlier generation, so it is a name and a size that are lost.
    """

    def __init__(self, shelf: FileShelf | None) -> None:
        self._shelf = shelf
        self._lost: set[tuple[str, int]] = set()

    def __len__(self) -> int:
        return len(self._lost)

    def has(self, path: str, size: int) -> bool:
        if self._shelf is not None and self._shelf.size(path) != size:
            self._lost.add((path, size))
        return (path, size) in self._lost

    def is_spoiled(self, path: str, size: int, digest: bytes) -> bool:
        """Whether a file of the right size has other bytes than its row says."""
        assert self._shelf is not None
        found = sha256()
        for block in self._shelf.blocks(path, size):
            found.update(block)
        if found.digest() != digest:
            self._lost.add((path, size))
        return (path, size) in self._lost

    def needed(self, views: Views, job: int) -> set[str]:
        """The paths of results, which cannot be done without; those of earlier fetches will never come back."""
        paths: set[str] = set()
        after = (0, -1)
        while rows := views.artifacts(job, after=after, limit=ROWS_AT_ONCE):
            for row in rows:
                if (row.path, row.size) in self._lost:
                    raise Corrupt(f"the file {row.path} of T-{row.target:x} is missing, or cut short", hint=LOST_FILE)
                paths.add(row.path)
            after = rows[-1].target, rows[-1].n
        return paths


LOST_FILE = "holdfast doctor --deep --repair puts its target back; --without-artifacts leaves files out"
ROWS_AT_ONCE = 500


def every_page(views: Views, job: int) -> Iterator[PageRow]:
    """All succeeded pages, a bounded number at a time."""
    after = 0
    while rows := views.pages(job, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].target
