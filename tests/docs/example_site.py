"""The sites of the docs' examples, on this computer: a few pages, a forum, a court, whatever the host is called."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOSTS = ("docs.example.dev", "forum.example", "c.example", "court.example", "judicial.example.ky", "acme.example")
LINKS = ("/guide/install", "/guide/use", "/api/auth", "/tags/frogs", "/missing", "/p/1", "/p/2", "/p/3", "/p/4")


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        found = not any(word in self.path for word in ("missing", "robots.txt", "sitemap", "llms.txt", "404"))
        links = "".join(f'<a class="thread" href="{link}">{link}</a> ' for link in LINKS)
        media = "text/html"
        body = f"<title>{self.path}</title><h1>Frogs</h1><p class='post quote'>{self.path}</p>{links}".encode()
        if self.path.startswith("/files/"):
            media, body = "text/plain", f"The file {self.path}.\n".encode()
        if self.path == "/judgments.csv":
            media, body = "text/csv", b"Link,Number\nhttp://court.example/files/1.txt,A-1\n"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def example_site() -> Iterator[str]:
    """`address:port` of a site that has every page but a few."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
