"""A web for tests: a server on this computer that answers from a dict or a function, and remembers what was asked.

with FakeWeb({"/": '<a href="/frog">frog</a>', "/frog": "<h1>Frog</h1>", "/api": {"next": None}}) as web:
    worked = run_recipe("frogs.py", web, start=web.url + "/")
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec

LOOPBACK = "127.0.0.1"
ASK_EVERY_S = 0.002


class Answer(msgspec.Struct, frozen=True):
    """What the server says: status, body, headers."""

    body: str | bytes = b""
    status: int = 200
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


Said = Answer | str | bytes | int | dict[str, Any] | list[Any] | None
Pages = Mapping[str, Said] | Callable[[str], Said]


class FakeWeb:
    """Serves while it is entered. A text is an HTML page, bytes are bytes, a dict or list is JSON, a number a status.

    Pages are named by path (`/frog?page=2`) or by URL (`http://pond.test/frog`); with a function, it is called with the
    path, or the URL where the host is not this computer. What it does not know is 404.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._asked: list[str] = []
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        web = self

        class PageHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                answer = web._answer(self.headers.get("Host", ""), self.path)
                body = answer.body.encode() if isinstance(answer.body, str) else answer.body
                headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers, "Content-Length": len(body)}
                self.send_response(answer.status)
                for name, value in headers.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                """Answered like a GET of the same page; what was posted is not looked at."""
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:
                """A test's output is not the place for it."""

        self._server = _Quiet((LOOPBACK, 0), PageHandler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        assert self._server is not None, "a FakeWeb serves while it is entered: with FakeWeb(...) as web"
        return f"{LOOPBACK}:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Where it is: `http://127.0.0.1:8123`, without a slash at the end."""
        return f"http://{self.address}"

    @property
    def asked(self) -> list[str]:
        """Every path or URL that was asked for, in order, robots.txt apart."""
        with self._lock:
            return list(self._asked)

    @property
    def options(self) -> list[str]:
        """What the command needs to be let through to here, at full speed."""
        names = {_host(key) for key in self._pages if "://" in key} if isinstance(self._pages, Mapping) else set()
        resolved = [word for name in sorted(names) for word in ("--resolve", f"{name}={self.address}")]
        return ["--allow", self.address, "--delay", "0", "--per-host", "8", *resolved]

    def wait_for(self, asked: int, gone: Callable[[], bool]) -> bool:
        """Wait until so many requests have come, or `gone` says that nobody asks any more; whether they came."""
        never = threading.Event()
        while len(self._asked) < asked:
            if gone():
                return False
            never.wait(ASK_EVERY_S)
        return True

    def _answer(self, host: str, path: str) -> Answer:
        name = path if host == self.address else f"http://{host}{path}"
        if path == "/robots.txt" and not (isinstance(self._pages, Mapping) and name in self._pages):
            return Answer(status=404)
        with self._lock:
            self._asked.append(name)
        said = self._pages.get(name) if isinstance(self._pages, Mapping) else self._pages(name)
        return _answer(said)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in the middle of an answer is what tests are about."""


def _answer(said: Said) -> Answer:
    if said is None:
        return Answer(status=404)
    if isinstance(said, int):
        return Answer(status=said)
    if isinstance(said, (dict, list)):
        return Answer(msgspec.json.encode(said), headers={"Content-Type": "application/json"})
    return said if isinstance(said, Answer) else Answer(said)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
