"""The WARC files that a job reads in place of the web: the answer for a URL, and the pages in them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.blobs.web_archive.index import files_of, make_index
from holdfast.blobs.web_archive.records import Stopped, read_block
from holdfast.errors import FetchError, Refused
from holdfast.model.exchange import ArchivedAnswer

ROWS_AT_ONCE = 1_000
_LOCATED = "SELECT f.path, a.offset, a.at, a.digest, a.refers FROM answer a JOIN file f ON f.id = a.file WHERE"
Located = tuple[str, int, int, str, str]  # (path, offset, wall ms, digest of the content, URL that a revisit refers to)


class WarcFiles:
    """Fulfils ports.WebArchive, by an index. Any thread may read."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []

    @classmethod
    def of(cls, names: Sequence[str], index: Path) -> WarcFiles:
        """By the index at this place, made where it is missing. Refused where it was made of other files."""
        files = files_of(names)
        if not index.exists():
            make_index(files, index)
        archive = cls(index)
        present = [(str(each), each.stat().st_size) for each in files]
        if archive._rows("SELECT path, size FROM file ORDER BY id") != present:
            archive.close()
            raise Refused(
                "the archive that this job reads has changed since it began",
                hint="put it back as it was, or start over with --new",
            )
        return archive

    def told(self) -> list[str]:
        """What people should know: files that were read in part only."""
        rows = self._rows("SELECT path, told FROM file WHERE told <> '' ORDER BY id")
        return [f"{path}: {said}" for path, said in rows]

    def pages(self, start: int = 0) -> Iterator[str]:
        """The URLs of all HTML pages, in the order in which they were archived, from this number on."""
        while rows := self._rows("SELECT url FROM page WHERE n > ? ORDER BY n LIMIT ?", (start, ROWS_AT_ONCE)):
            yield from (row[0] for row in rows)
            start += len(rows)

    def find(self, url: str, bytes_max: int) -> ArchivedAnswer | None:
        """The latest answer for a canonical URL, read now."""
        located = self._located("a.url = ? ORDER BY a.at DESC, a.id DESC", url)
        if located is None:
            return None
        headers, block = _read(located, bytes_max)
        first = b""
        if located[4]:
            original = self._original(located)
            if original is None:
                return None
            headers, first = _read(original, bytes_max)
        return ArchivedAnswer(at=located[2], block=block, first=first, cut=headers.get("warc-truncated", ""))

    def close(self) -> None:
        """May be repeated."""
        opened, self._opened = self._opened, []
        for connection in opened:
            connection.close()
        self._local = threading.local()

    def _original(self, revisit: Located) -> Located | None:
        """The answer whose content a revisit repeats."""
        same = "a.digest = ? AND a.digest <> '' AND a.refers = '' ORDER BY a.id"
        found = self._located(same, revisit[3])
        return found or self._located("a.url = ? AND a.refers = '' ORDER BY a.at DESC, a.id DESC", revisit[4])

    def _located(self, condition: str, value: str) -> Located | None:
        rows = self._rows(f"{_LOCATED} {condition} LIMIT 1", (value,))
        return rows[0] if rows else None

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            address = f"{self._index.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            self._local.connection = connection
            self._opened.append(connection)
        return list(connection.execute(sql, values))


def _read(located: Located, bytes_max: int) -> tuple[dict[str, str], bytes]:
    try:
        with open(located[0], "rb") as file:
            return read_block(file, located[1], bytes_max)
    except (OSError, Stopped) as error:
        raise FetchError("not_archived", f"{located[0]} cannot be read any more: {error}") from None
