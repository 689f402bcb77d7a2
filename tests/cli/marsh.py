"""A tiny site with one page of every fate: done, failed, redirected, left out by rule, out of scope, asked to wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOME = (
    '<title>Marsh</title><a href="/frog">frog</a><a href="/old">old</a><a href="/gone">gone</a>'
    '<a href="/tags/a">tag</a><a href="/private/den">den</a>'
    '<a href="https://pond.test/newt">pond</a>'
)
PAGES: dict[str, tuple[int, dict[str, str], str]] = {
    "/": (200, {}, HOME),
    "/robots.txt": (200, {"content-type": "text/plain"}, "User-agent: *\nDisallow: /private/\n"),
    "/frog": (200, {}, '<title>Frog \x1b[31mred</title><a href="/frog/leg">leg</a>'),
    "/frog/leg": (200, {}, '<title>Leg</title><a href="/frog/leg/toe">toe</a>'),
    "/frog/leg/toe": (200, {}, "<title>Toe</title>"),
    "/old": (301, {"location": "/frog"}, ""),
    "/patience": (200, {}, '<title>Patience</title><a href="/busy">busy</a>'),
    "/busy": (503, {"retry-after": "3600"}, ""),
    "/private/den": (200, {}, "<title>Den</title>"),
}


class _Marsh(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, headers, text = PAGES.get(self.path, (404, {}, ""))
        body = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "text/html", **headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def marsh() -> Iterator[str]:
    """The address (`127.0.0.1:8123`) of the site while it is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Marsh)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
