"""WACZ 1.1.1: the WARC file with an index of its records and a list of its pages, as one ZIP file that archive viewers
such as ReplayWeb.page open.

The same pages give the same bytes. Memory does not grow with the job.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from io import BufferedWriter
from typing import IO, Any, BinaryIO
from urllib.parse import urlsplit

import msgspec

from holdfast.clock import iso
from holdfast.model.outcome import BodyRef, body_of
from holdfast.model.target import PageRow
from holdfast.version import __version__
from holdfast.views.exports.form import Asked, Write, refuse_stream, refuse_without_pages
from holdfast.views.exports.form_row import Form
from holdfast.views.exports.parquet import AppendedFile
from holdfast.views.results import Results

FORM = Form(name="wacz", ending=".wacz", place=50, title="a WACZ file", is_text=False, noun="page")

WACZ_VERSION = "1.1.1"
ARCHIVE, INDEX, PAGES = "archive/data.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"
DATED = (1980, 1, 1, 0, 0, 0)
READ_BYTES = 65_536
HEAD_BYTES_MAX = 2_500_000  # of a stored record: what stands before its body
HTML = ("text/html", "application/xhtml+xml")
_GZIP_WBITS = 31
_WWW = re.compile(r"^www\d*\.")
_TITLE = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
IndexLine = tuple[str, str]  # the key by which lines are sorted, and the line


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    """Every stored page as it was answered; how many."""
    refuse_stream("a WACZ file", rows)
    job = asked.results.job
    at_ms = job.created_at if asked.dated_ms is None else asked.dated_ms
    with (
        asked.storage.unnamed_file() as pages,
        zipfile.ZipFile(BufferedWriter(AppendedFile(out)), "w", zipfile.ZIP_STORED) as file,
    ):
        package = _Package(file)
        written, index = _write_archive(asked, package, pages)
        refuse_without_pages(asked.results, written)
        ordered = asked.storage.in_order(index, kind=IndexLine, key=lambda line: line)
        package.put(INDEX, (f"{key} {line}\n".encode() for key, line in ordered))
        pages.seek(0)
        package.put(PAGES, iter(lambda: pages.read(READ_BYTES), b""))
        package.describe({"title": job.name, "created": iso(at_ms), "software": f"holdfast/{__version__}"})
    return written


def _write_archive(asked: Asked, package: _Package, pages: BinaryIO) -> tuple[int, Iterable[IndexLine]]:
    """The WARC file into the package, the list of pages into a file; what was written, and the lines of the index."""
    index = asked.storage.unnamed_file()  # closed by `_lines`
    at = 0

    def write_member(entry: _Entry, member: bytes) -> None:
        nonlocal at
        line = _index_line(member, at)
        if line is not None:
            index.write(msgspec.json.encode(line) + b"\n")
        entry.write(member)
        at += len(member)

    archive = asked.storage.archive(asked.results.job.uid, dated_ms=asked.dated_ms)
    pages.write(msgspec.json.encode(_TITLE) + b"\n")
    with package.entry(ARCHIVE) as entry:
        stored = _stored(asked.results, pages, asked.dated_ms)
        written = archive.write(asked.results.job, stored, lambda member: write_member(entry, member))
    index.seek(0)
    return written, _lines(index)


def _lines(index: IO[bytes]) -> Iterator[IndexLine]:
    with index:
        for line in index:
            yield msgspec.json.decode(line, type=IndexLine)


def _stored(results: Results, pages: BinaryIO, dated_ms: int | None) -> Iterator[tuple[str, BodyRef]]:
    """Where the bodies lie; HTML pages are listed on the way."""
    for row in results.rows():
        body = body_of(row) if row.n == 0 else None
        if body is None:
            continue
        if body.media in HTML:
            shown = results.kind.result(row)
            when = iso(dated_ms) if dated_ms is not None else shown.get("fetched_at")
            name = sha256(row.url.encode()).hexdigest()[:24]
            line = {"id": name, "url": row.url, "title": shown.get("title") or row.url, "ts": when}
            pages.write(msgspec.json.encode(line) + b"\n")
        yield row.url, body


def _index_line(member: bytes, offset: int) -> IndexLine | None:
    """The line of a stored answer; None of a record that is not an answer."""
    head = zlib.decompressobj(_GZIP_WBITS).decompress(member, HEAD_BYTES_MAX)
    warc, _, rest = head.partition(b"\r\n\r\n")
    fields = _fields(warc)
    if fields.get("warc-type") != "response":
        return None
    http = rest.partition(b"\r\n\r\n")[0]
    status = http.split(b" ", 2)[1].decode()
    when = datetime.fromisoformat(fields["warc-date"])
    line = {
        "url": fields["warc-target-uri"],
        "mime": _fields(http).get("content-type", "").partition(";")[0].strip() or "unk",
        "status": status,
        "digest": fields["warc-payload-digest"],
        "length": str(len(member)),
        "offset": str(offset),
        "filename": ARCHIVE.rpartition("/")[2],
    }
    return f"{surt(fields['warc-target-uri'])} {when:%Y%m%d%H%M%S}", msgspec.json.encode(line).decode()


def _fields(head: bytes) -> dict[str, str]:
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.lower(): value.strip() for name, _, value in lines}


def surt(url: str) -> str:
    """`http://www.frogs.test/a?c&b` as indexes are sorted: `test,frogs)/a?b&c`."""
    parts = urlsplit(url.lower())
    name = ",".join(reversed(_WWW.sub("", parts.hostname or "").split(".")))
    port = "" if parts.port is None else f":{parts.port}"
    query = "?" + "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{name}{port}){parts.path or '/'}{query}"


class _Package:
    """The ZIP file and what it has to say of its parts."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._resources: list[dict[str, Any]] = []

    def entry(self, path: str) -> _Entry:
        return _Entry(self._file.open(_info(path), "w", force_zip64=True), path, self._resources)

    def put(self, path: str, blocks: Iterable[bytes]) -> None:
        with self.entry(path) as entry:
            for block in blocks:
                entry.write(block)

    def describe(self, said: dict[str, Any]) -> None:
        """`datapackage.json`, and the hash by which it is known."""
        package = {"profile": "data-package", "wacz_version": WACZ_VERSION, **said, "resources": self._resources}
        content = msgspec.json.format(msgspec.json.encode(package), indent=2)
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(content).hexdigest()}"}
        self._file.writestr(_info("datapackage.json"), content)
        self._file.writestr(_info("datapackage-digest.json"), msgspec.json.encode(digest))


class _Entry:
    """One part being written, hashed on the way."""

    def __init__(self, file: IO[bytes], path: str, resources: list[dict[str, Any]]) -> None:
        self._file, self._path, self._resources = file, path, resources
        self._hash, self._size = sha256(), 0

    def __enter__(self) -> _Entry:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()
        name = self._path.rpartition("/")[2]
        digest = f"sha256:{self._hash.hexdigest()}"
        self._resources.append({"name": name, "path": self._path, "hash": digest, "bytes": self._size})

    def write(self, block: bytes) -> None:
        self._file.write(block)
        self._hash.update(block)
        self._size += len(block)


def _info(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, DATED)
    info.external_attr, info.create_system = 0o644 << 16, 3
    return info
