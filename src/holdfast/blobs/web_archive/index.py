"""Where in which WARC file the answer for a URL lies: a small SQLite file, made once by reading the archives through.

Of several answers for a URL the latest counts. A revisit stands for the answer whose content it repeats; an answer 304
says nothing by itself and is left out, and so are answers to anything but GET.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from holdfast.blobs.publish import beside, file_mode, make_directory, put_in_place, refusal, sweep, sync_directory
from holdfast.blobs.web_archive.records import Stopped, WarcRecord, check_archive, records
from holdfast.errors import BadParams, DiskFull
from holdfast.model.exchange import GET, NOT_MODIFIED
from holdfast.model.keys import canonical

SUFFIXES = (".warc", ".warc.gz")
HTML = (b"text/html", b"application/xhtml+xml")
SNIFFED_BYTES = 1_024
_SCHEMA = """
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL, size INTEGER NOT NULL, told TEXT NOT NULL);
CREATE TABLE answer (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, file INTEGER NOT NULL, at INTEGER NOT NULL, offset INTEGER NOT NULL,
  status INTEGER NOT NULL, html INTEGER NOT NULL, digest TEXT NOT NULL, refers TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE other (record TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_FINISH = (
    "CREATE INDEX by_record ON answer (record)",
    "DELETE FROM answer WHERE record IN (SELECT record FROM other)",
    "DROP INDEX by_record",
    "DROP TABLE other",
    "CREATE INDEX by_url ON answer (url, at, id)",
    "CREATE INDEX by_digest ON answer (digest) WHERE digest <> '' AND refers = ''",
    "UPDATE answer SET (status, html) = (SELECT o.status, o.html FROM answer o WHERE o.digest = answer.digest "
    "AND o.digest <> '' AND o.refers = '' LIMIT 1) WHERE status = 0 AND EXISTS (SELECT 1 FROM answer o "
    "WHERE o.digest = answer.digest AND o.digest <> '' AND o.refers = '')",
    "CREATE TABLE page (n INTEGER PRIMARY KEY, url TEXT NOT NULL)",
    "INSERT INTO page (url) SELECT a.url FROM answer a WHERE a.html = 1 AND a.status BETWEEN 200 AND 299 "
    "AND a.status <> 206 AND NOT EXISTS (SELECT 1 FROM answer b WHERE b.url = a.url AND (b.at, b.id) > (a.at, a.id)) "
    "ORDER BY a.id",
)
_STATUS = re.compile(rb"HTTP/[0-9.]+ +([1-9][0-9][0-9])(?=[ \r\n])")
_MEDIA = re.compile(rb"^content-type:[ \t]*([^;\r\n]*)", re.IGNORECASE | re.MULTILINE)
_END = re.compile(rb"\r?\n\r?\n")


def files_of(names: Iterable[str]) -> list[Path]:
    """The WARC files that are named, those of named folders in the order of their paths. BadParams: one is missing."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if each.name.endswith(SUFFIXES) and each.is_file())
            if not inside:
                raise BadParams(f"there is no .warc or .warc.gz in the folder {name}")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise BadParams(f"there is no file {name}")
    return list(dict.fromkeys(found))


def check_archives(names: Iterable[str]) -> None:
    """BadParams where one of them cannot be read, or does not begin as a WARC file does."""
    for path in files_of(names):
        try:
            with path.open("rb") as file:
                check_archive(file, str(path))
        except OSError as error:
            raise BadParams(f"{path} cannot be read: {error.strerror}") from None


def make_index(files: Sequence[Path], path: Path) -> None:
    """Beside it, then renamed: an index is whole or not there. Two processes may make it: each gives the same. DiskFull
    where there is no room for it."""
    try:
        make_directory(path.parent, mode=None)
        sweep(path)
        made, descriptor = beside(path, file_mode(path.parent))
    except OSError as error:
        raise refusal(error, path) from error
    try:
        _fill(files, made)
        try:
            os.fsync(descriptor)
            put_in_place(made, path)
            sync_directory(path.parent)
        except OSError as error:
            raise refusal(error, path) from error
    finally:
        with suppress(OSError):
            made.unlink(missing_ok=True)
        os.close(descriptor)


def _fill(files: Sequence[Path], made: Path) -> None:
    """Without locks of SQLite: its maker alone knows the file, and holds it."""
    try:
        with closing(sqlite3.connect(f"{made.absolute().as_uri()}?nolock=1", uri=True, isolation_level=None)) as db:
            db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;" + _SCHEMA)
            db.execute("BEGIN")
            for number, each in enumerate(files):
                _take_file(db, number, each)
            for statement in _FINISH:
                db.execute(statement)
            found = db.execute("SELECT 1 FROM answer LIMIT 1").fetchone()
            told = "; ".join(row[0] for row in db.execute("SELECT told FROM file WHERE told <> ''"))
            db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
        raise DiskFull(f"no room for the index of {files[0]} in {made.parent}") from error
    if found is None:
        raise BadParams(f"no answer of a web server can be read from {files[0]}{': ' + told if told else ''}")


def _take_file(db: sqlite3.Connection, number: int, path: Path) -> None:
    told = ""
    with path.open("rb") as file:
        check_archive(file, str(path))
        size = os.fstat(file.fileno()).st_size
        try:
            for record in records(file):
                _take(db, number, record)
        except Stopped as stopped:
            told = f"not read to its end: {stopped}; what stands before it is used"
    db.execute("INSERT INTO file VALUES (?, ?, ?, ?)", (number, str(path), size, told))


def _take(db: sqlite3.Connection, number: int, record: WarcRecord) -> None:
    headers = record.headers
    if record.type == "request":
        if not record.block.startswith(f"{GET} ".encode()):
            ids = {headers.get("warc-record-id", ""), headers.get("warc-concurrent-to", "")} - {""}
            db.executemany("INSERT OR IGNORE INTO other VALUES (?)", [(each,) for each in ids])
        return
    address = canonical(record.url) if record.type in ("response", "revisit") else None
    if address is None:
        return
    is_revisit = record.type == "revisit"
    if is_revisit and "identical-payload-digest" not in headers.get("warc-profile", "identical-payload-digest"):
        return
    status, is_html = _answered(record.block)
    if status == NOT_MODIFIED or not (status or is_revisit):
        return
    refers = canonical(headers.get("warc-refers-to-target-uri", "").strip("<>"))
    db.execute(
        "INSERT INTO answer (url, file, at, offset, status, html, digest, refers, record) VALUES (?,?,?,?,?,?,?,?,?)",
        (
            address.url, number, _moment(headers.get("warc-date", "")), record.offset, status,
            int(is_html), headers.get("warc-payload-digest", ""),
            (refers.url if refers else address.url) if is_revisit else "",
            _exchange(headers),
        ),
    )  # fmt: skip


def _exchange(headers: dict[str, str]) -> str:
    """What a request may be known by to its answer: either record names the other."""
    return headers.get("warc-concurrent-to") or headers.get("warc-record-id", "")


def _moment(text: str) -> int:
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _answered(block: bytes) -> tuple[int, bool]:
    """(the HTTP status, 0 where the block is no HTTP answer; whether it is HTML)"""
    found, end = _STATUS.match(block), _END.search(block)
    if found is None or end is None:
        return 0, False
    declared = _MEDIA.search(block, 0, end.start())
    if declared is not None:
        return int(found[1]), declared[1].strip().lower() in HTML
    start = block[end.end() : end.end() + SNIFFED_BYTES].lower()
    return int(found[1]), b"<!doctype html" in start or b"<html" in start
