"""Every exchange of a job as WARC, in files beside its results: request and answer, in the order of the answers.

Each is on the disk before the step that asked sees its answer, so what the ledger knows of was recorded.
"""

from __future__ import annotations

from hashlib import sha256
from threading import Lock

from holdfast.blobs.segments import Segments
from holdfast.blobs.warc import member, request_member
from holdfast.model.exchange import Request, Response
from holdfast.model.keys import origin_of
from holdfast.model.outcome import Body

ELSEWHERE = "WARC-Truncated: unspecified"  # the body is a file of its own


class Recording:
    """Fulfils ports.Recorder. `segments` is its own: nothing else is written there."""

    def __init__(self, segments: Segments, *, agent: str) -> None:
        self._segments, self._agent = segments, agent
        self._lock = Lock()

    def keep(self, request: Request, response: Response, at_ms: int, *, in_file: bool = False) -> None:
        """Typed headers and cookies, which may be secrets, are added where the request leaves: they are not known here.
        `in_file`: the body went into a file, and is not in the recording."""
        digest = sha256(response.body).digest()
        body = Body(request.url, response.status, response.headers, response.body, digest, response.media, at_ms)
        answer = member(body, ELSEWHERE) if in_file else member(body)
        asked = request_member(body, self._head(request), request.body)
        with self._lock:
            self._segments.append([_packed(body, asked), _packed(body, answer)])

    def close(self) -> None:
        """May be repeated."""
        with self._lock:
            self._segments.close()

    def _head(self, request: Request) -> bytes:
        origin = origin_of(request.url)
        path, host = request.url[len(origin) :], origin.partition("//")[2]
        own = (f"{request.method} {path} HTTP/1.1", f"Host: {host}", f"User-Agent: {self._agent}")
        sent = (f"{name}: {value}" for name, value in request.headers)
        return "\r\n".join((*own, *sent, "", "")).encode("utf-8", "replace")


def _packed(body: Body, stored: bytes) -> Body:
    return Body(body.url, body.status, (), b"", body.sha256, body.media, body.fetched_at, stored)
