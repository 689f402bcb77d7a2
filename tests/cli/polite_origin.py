"""A site on loopback that keeps its own log of who came when: the witness for politeness."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Self

HTML = "text/html"


@dataclass(slots=True)
class Visit:
    """One request: seconds of the monotonic clock."""

    path: str
    began: float
    authorization: str | None = None
    conditions: tuple[str | None, str | None] = (None, None)  # If-None-Match, If-Modified-Since
    status: int = 0
    ended: float = float("inf")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0


def linking(*paths: str, after_s: float = 0.0) -> Answer:
    links = "".join(f'<a href="{path}">x</a>' for path in paths)
    return Answer(200, f"<title>frogs</title>{links}".encode(), {"content-type": HTML}, after_s)


def as_asked(answer: Answer, visit: Visit) -> Answer:
    """304 where that is what the visitor has: by the ETag if it named one, else by the date."""
    tag, date = visit.conditions
    is_same = answer.headers.get("etag") == tag if tag else date and answer.headers.get("last-modified") == date
    return Answer(304, b"", answer.headers, answer.after_s) if is_same and answer.status == 200 else answer


class Origin:
    """`answer(path)` says what to send; `visits` is the log, in order of arrival."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        self.answer = answer
        self.visits: list[Visit] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def paths(self) -> list[str]:
        with self._lock:
            return [visit.path for visit in self.visits]

    def gaps(self) -> list[float]:
        """Seconds between the arrivals of one request and the next."""
        with self._lock:
            return [later.began - earlier.began for earlier, later in pairwise(self.visits)]

    def most_at_once(self) -> int:
        with self._lock:
            return max(sum(other.began <= visit.began < other.ended for other in self.visits) for visit in self.visits)

    def _came(self, path: str, authorization: str | None) -> Visit:
        with self._lock:
            visit = Visit(path, time.monotonic(), authorization)
            self.visits.append(visit)
        return visit

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                visit = origin._came(self.path, self.headers.get("authorization"))
                visit.conditions = (self.headers.get("if-none-match"), self.headers.get("if-modified-since"))
                answer = as_asked(origin.answer(self.path), visit)
                visit.status = answer.status
                threading.Event().wait(answer.after_s)
                visit.ended = time.monotonic()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:
                """Not on the screen."""

            def handle(self) -> None:
                try:
                    super().handle()
                except ConnectionError:
                    return  # whoever asked was killed

        return Handler

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
