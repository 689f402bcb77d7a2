"""Damage to a SQLite file that its own reader does not see at once: pages of its trees in each other's place."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

PAGE_BYTES = 4096
INTERIOR_TABLE = 0x05
POINTERS_AT = 12  # in an interior page: behind its header


def roots(file: Path) -> dict[str, int]:
    """Table or index -> number of its root page."""
    with closing(sqlite3.connect(file)) as ledger:
        return dict(ledger.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall())


def children(file: Path, page: int) -> list[int]:
    """The pages below an interior page of a table, in order; the last one of all is left out."""
    content = file.read_bytes()[(page - 1) * PAGE_BYTES : page * PAGE_BYTES]
    assert content[0] == INTERIOR_TABLE, f"page {page} has no children"
    cells = int.from_bytes(content[3:5], "big")
    places = [int.from_bytes(content[at : at + 2], "big") for at in range(POINTERS_AT, POINTERS_AT + 2 * cells, 2)]
    return [int.from_bytes(content[place : place + 4], "big") for place in places]


def swap(file: Path, first: int, second: int) -> None:
    pages = file.read_bytes()
    parts = [pages[at : at + PAGE_BYTES] for at in range(0, len(pages), PAGE_BYTES)]
    parts[first - 1], parts[second - 1] = parts[second - 1], parts[first - 1]
    file.write_bytes(b"".join(parts))
