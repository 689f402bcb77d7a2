"""WARC files as others write them, made with warcio."""

from __future__ import annotations

import gzip
from base64 import b32encode
from collections.abc import Callable
from hashlib import sha1
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HOST = "http://frogs.test"


class Warc:
    """One file, record by record."""

    def __init__(self, path: Path, *, packed: bool = True) -> None:
        self.path = path
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=packed)

    def __enter__(self) -> Warc:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    def answer(
        self,
        path: str,
        body: bytes = b"",
        *,
        status: str = "200 OK",
        media: str = "text/html",
        date: str = "2019-05-01T12:00:00Z",
        method: str = "GET",
        headers: tuple[tuple[str, str], ...] = (),
        more: dict[str, str] | None = None,
    ) -> None:
        fields = [*([("Content-Type", media)] if media else []), *headers]
        record = self._writer.create_warc_record(
            HOST + path,
            "response",
            payload=BytesIO(body),
            http_headers=StatusAndHeaders(status, fields, protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": date, **(more or {})},
        )
        asked = self._writer.create_warc_record(
            HOST + path,
            "request",
            http_headers=StatusAndHeaders(f"{method} {path} HTTP/1.1", [("Host", "frogs.test")], is_http_request=True),
            warc_headers_dict={"WARC-Date": date},
        )
        self._writer.write_request_response_pair(asked, record)
        for each in (asked, record):
            each.raw_stream.close()  # warcio leaves its temporary files open

    def revisit(self, path: str, of: bytes, *, date: str = "2020-05-01T12:00:00Z") -> None:
        """As a crawler writes it that has seen the same bytes before."""
        digest = "sha1:" + b32encode(sha1(of, usedforsecurity=False).digest()).decode()
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        record = self._writer.create_revisit_record(
            HOST + path,
            digest,
            HOST + "/",
            "2019-05-01T12:00:00Z",
            http_headers=head,
            warc_headers_dict={"WARC-Date": date},
        )
        self._writer.write_record(record)

    def other(self, kind: str, url: str, body: bytes) -> None:
        """A record that is no answer of a web server."""
        record = self._writer.create_warc_record(url, kind, payload=BytesIO(body))
        self._writer.write_record(record)
        record.raw_stream.close()


def page(title: str, *paths: str) -> bytes:
    links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{links}</p></body></html>".encode()


POND = page("Pond", "/chunks", "/packed", "/both", "/same", "/moved", "/missing", "/private/x", "/busy")


def chunked(body: bytes) -> bytes:
    half = len(body) // 2
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:])) + b"0\r\n\r\n"


def site(path: Path, *, packed: bool = True, more: Callable[[Warc], None] = lambda warc: None) -> Path:
    """Seven pages in every shape that archives have, and what is no page."""
    with Warc(path, packed=packed) as warc:
        warc.other("warcinfo", "urn:info", b"software: frogs")
        warc.other("metadata", "metadata://frogs.test/log", b"nothing")
        warc.other("response", "dns:frogs.test", b"20190501120000\nfrogs.test. 60 IN A 10.0.0.1\n")
        warc.answer("/robots.txt", b"User-agent: *\nDisallow: /private/\nCrawl-delay: 60\n", media="text/plain")
        warc.answer("/", POND)
        warc.answer("/chunks", chunked(page("Chunks")), headers=(("Transfer-Encoding", "chunked"),))
        warc.answer("/packed", gzip.compress(page("Packed")), headers=(("Content-Encoding", "gzip"),))
        both = (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"))
        warc.answer("/both", chunked(gzip.compress(page("Both"))), headers=both)
        warc.answer("/undone", page("Undone"), headers=both)
        warc.revisit("/same", POND)
        warc.answer("/moved", status="301 Moved Permanently", headers=(("Location", "/chunks"),))
        warc.answer("/busy", b"later", status="503 Service Unavailable", headers=(("Retry-After", "3600"),))
        warc.answer("/style.css", b"p {}", media="text/css")
        warc.answer("/form", page("Posted"), method="POST")
        warc.answer("/private/x", page("Private"))
        more(warc)
    return path
