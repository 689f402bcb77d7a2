"""A folder on the web of this computer, and what was asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@dataclass
class Shelf:
    root: Path
    url: str = ""
    asked: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)  # where paths lead


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: object, shelf: Shelf) -> None:
        self.shelf = shelf
        super().__init__(*arguments, directory=str(shelf.root))  # type: ignore[arg-type, misc]

    def do_GET(self) -> None:
        self.shelf.asked.append(self.path)
        if self.path not in self.shelf.redirects:
            super().do_GET()
            return
        self.send_response(302)
        self.send_header("Location", self.shelf.redirects[self.path])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def serving(root: Path) -> Iterator[Shelf]:
    root.mkdir()
    shelf = Shelf(root)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, shelf=shelf))
    shelf.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield shelf
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
