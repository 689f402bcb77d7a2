"""The files that bodies lie in: there, and long enough for what the ledger says of them. Nothing in them is read."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.audit.law import Query

# The bodies of the generation that counts: an unchanged page has none of its own, and stands by its last one.
_THAT_COUNTS = (
    "FROM body b JOIN segment s ON s.id = b.segment JOIN target t ON t.id = b.target AND b.gen = CASE "
    "WHEN t.disposition = 'unchanged' THEN (SELECT max(k.gen) FROM body k WHERE k.target = t.id) ELSE t.gen END "
)


class ShortSegment(msgspec.Struct, frozen=True):
    """A segment file that lacks bytes. `size` is None where there is no file; `pages` are those without bytes."""

    name: str
    size: int | None
    wanted: int
    pages: int

    def __str__(self) -> str:
        what = "is missing" if self.size is None else f"ends at {self.size}, before {self.wanted}"
        pages = "1 page" if self.pages == 1 else f"{self.pages} pages"
        return f"segment {self.name} {what}: {pages} without bytes"


def lost_pages(query: Query, job: int, segment: ShortSegment) -> list[int]:
    """The succeeded targets whose bytes lie beyond the end of a segment, or in none."""
    rows = query(
        f"SELECT t.id {_THAT_COUNTS}WHERE s.job = ? AND s.name = ? AND b.off + b.len > ? AND t.state = 4 ORDER BY t.id",
        (job, segment.name, segment.size or 0),
    )
    return [target for (target,) in rows]


def short_segments(query: Query, job: int, size_of: Callable[[str], int | None]) -> list[ShortSegment]:
    """Segments of a job that are not as long as its rows need them (F1): of the generation that counts."""
    found = []
    ends = f"SELECT s.name, max(b.off + b.len) {_THAT_COUNTS}WHERE s.job = ? GROUP BY s.name ORDER BY s.name"
    for name, end in query(ends, (job,)):
        size = size_of(name)
        if size is None or size < end:
            beyond = "AND s.name = ? AND b.off + b.len > ?"
            [(pages,)] = query(f"SELECT count(*) {_THAT_COUNTS}WHERE s.job = ? {beyond}", (job, name, size or 0))
            found.append(ShortSegment(name, size, end, pages))
    return found
