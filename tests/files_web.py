"""A site of large files for tests: Range, If-Range, versions, cuts; and forms that are posted.

The bytes of a file follow from its name and its version, block by block, so that none of it is held in memory.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl

BLOCK = 1 << 16


def block_of(name: str, version: int, n: int) -> bytes:
    return sha256(f"{name} {version} {n}".encode()).digest() * (BLOCK // 32)


def bytes_of(name: str, size: int, version: int = 1, begin: int = 0) -> Iterator[bytes]:
    """The bytes of a file from `begin` on, piece by piece."""
    at = begin
    while at < size:
        block = block_of(name, version, at // BLOCK)[at % BLOCK :][: size - at]
        yield block
        at += len(block)


def hash_of(name: str, size: int, version: int = 1) -> bytes:
    digest = sha256()
    for block in bytes_of(name, size, version):
        digest.update(block)
    return digest.digest()


@dataclass
class Rules:
    """How the site behaves. `cut`: an answer ends after so many bytes, so often; `per_s`: bytes in a second."""

    version: int = 1
    etag: bool = True
    weak: bool = False
    modified: str = ""
    ranges: bool = True
    wrong_range: bool = False
    encoding: str = ""
    cut: int = 0
    cuts: int = 0
    per_s: int = 0
    chunked: bool = False
    stall_at: int = -1


@dataclass
class Ask:
    method: str
    path: str
    range: str
    if_range: str
    sent: int = 0
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class FilesWeb:
    """`/f/NAME/SIZE` is a file of so many bytes. `/post` answers what was posted, `/go/STATUS` redirects to it."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.asks: list[Ask] = []
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        web = self

        class Asked(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                web.answer(self)

            do_POST = do_PUT = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """A test's output is not the place for it."""

        self._server = _Quiet(("127.0.0.1", 0), Asked)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def of(self, path: str) -> list[Ask]:
        with self.lock:
            return [ask for ask in self.asks if ask.path.startswith(path)]

    def answer(self, asked: BaseHTTPRequestHandler) -> None:
        body = asked.rfile.read(int(asked.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in asked.headers.items()}
        ask = Ask(asked.command, asked.path, headers.get("range", ""), headers.get("if-range", ""), 0, body, headers)
        with self.lock:
            self.asks.append(ask)
        path = asked.path.partition("?")[0]
        if path.startswith("/f/"):
            _, _, name, size = path.split("/")
            self._file(asked, ask, name, int(size))
        elif path.startswith("/go/"):
            self._say(asked, int(path.split("/")[2]), b"", {"Location": "/post"})
        elif path == "/post":
            self._say(asked, 200, f"{asked.command} {dict(parse_qsl(body.decode()))}".encode(), {})
        else:
            self._say(asked, 404, b"", {})

    def _say(self, asked: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, Any]) -> None:
        asked.send_response(status)
        for name, value in {"Content-Type": "text/plain", **headers, "Content-Length": len(body)}.items():
            asked.send_header(name, str(value))
        asked.end_headers()
        asked.wfile.write(body)

    def _file(self, asked: BaseHTTPRequestHandler, ask: Ask, name: str, size: int) -> None:
        rules = self.rules
        tag = f'"{name}-{rules.version}"'
        same = ask.if_range in (tag, rules.modified or tag) if ask.if_range else True
        wanted = re.fullmatch(r"bytes=(\d+)-", ask.range) if rules.ranges and same else None
        begin = int(wanted[1]) if wanted else 0
        if begin >= size > 0:
            self._say(asked, 416, b"", {"Content-Range": f"bytes */{size}"})
            return
        asked.send_response(206 if wanted else 200)
        asked.send_header("Content-Type", "application/pdf")
        if rules.etag:
            asked.send_header("ETag", f"W/{tag}" if rules.weak else tag)
        if rules.modified:
            asked.send_header("Last-Modified", rules.modified)
        if rules.encoding:
            asked.send_header("Content-Encoding", rules.encoding)
        if wanted:
            told = begin + 1 if rules.wrong_range else begin
            asked.send_header("Content-Range", f"bytes {told}-{size - 1}/{size}")
        asked.send_header(
            *(("Transfer-Encoding", "chunked") if rules.chunked else ("Content-Length", str(size - begin)))
        )
        asked.end_headers()
        self._send(asked, ask, name, size, begin)

    def _send(self, asked: BaseHTTPRequestHandler, ask: Ask, name: str, size: int, begin: int) -> None:
        rules, began = self.rules, time.monotonic()
        limit = 0
        with self.lock:
            if rules.cuts:
                rules.cuts -= 1
                limit = rules.cut
        for block in bytes_of(name, size, rules.version, begin):
            block = block[: limit - ask.sent] if limit else block
            asked.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if rules.chunked else block)
            ask.sent += len(block)
            if limit and ask.sent >= limit:
                asked.close_connection = True
                asked.connection.close()
                return
            if 0 <= rules.stall_at <= ask.sent:
                threading.Event().wait(5)
            if rules.per_s:
                time.sleep(max(0.0, ask.sent / rules.per_s - (time.monotonic() - began)))
        if rules.chunked:
            asked.wfile.write(b"0\r\n\r\n")


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in the middle of an answer is what these tests are about."""
