"""An exchange whose body goes to a file as it comes in: nothing of it is held in memory, and nothing is decoded.

It asks for the bytes as they are (`identity`), and refuses an encoded answer: a part of one could not be continued. It
has no total deadline: a connection that stands still ends it, a large file that keeps coming does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pycurl

from holdfast.clock import Clock
from holdfast.errors import FetchError, HoldfastError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.exchange import Exchange
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.route import Route
from holdfast.model.exchange import Budget, Response
from holdfast.ports import FileSink

NO_LIMIT = 0
AS_IT_IS = "Accept-Encoding: identity"
BODY_KEPT_MAX = 1_000_000  # of an answer that is not a success; it is held in memory


class Download(Exchange):
    """A handle for downloads, one after another."""

    _sink: FileSink
    _taken: bool | None  # whether the sink wants the body; None before that is known

    def __init__(
        self,
        guard: Guard,
        budget: Budget,
        headers: Sequence[str],
        route: Route,
        *,
        clock: Clock,
        in_flight: BytesInFlight,
    ) -> None:
        plain = [line for line in headers if not line.lower().startswith("accept-encoding:")]
        budget = msgspec.structs.replace(
            budget, total_s=math.inf, body_bytes_max=min(budget.body_bytes_max, BODY_KEPT_MAX)
        )
        super().__init__(guard, budget, [*plain, AS_IT_IS], route, clock=clock, in_flight=in_flight)
        self.curl.setopt(pycurl.MAXFILESIZE_LARGE, NO_LIMIT)  # the sink has one

    def receive_into(self, sink: FileSink) -> None:
        """Where the body of the next exchange goes."""
        self._sink = sink

    @property
    def stopped(self) -> HoldfastError | None:
        """What the sink raised: no fault of the server's, perhaps."""
        return self._stopped

    def response(self, url: str, elapsed_ms: int) -> Response:
        """Without a body where that went to the sink; an empty one is told to it, too."""
        if self._failure is None and self._stopped is None and self._taken is None:
            self._decide()
        if self._stopped is not None:
            raise self._stopped
        return super().response(url, elapsed_ms)

    def end(self) -> None:
        super().end()
        self.__dict__.pop("_sink", None)

    def _reset(self) -> None:
        super()._reset()
        self._taken: bool | None = None
        self._stopped: HoldfastError | None = None

    def _on_body(self, chunk: bytes) -> int | None:
        if self._taken is None and not self._decide():
            return 0
        if not self._taken:
            return super()._on_body(chunk)
        self._chunks += 1
        try:
            self._sink.write(chunk)
        except HoldfastError as error:
            self._stopped = error
            return 0
        return None

    def _decide(self) -> bool:
        """Whether the answer can be used, and where its body goes."""
        try:
            self._read_headers()
            status = _status(self._lines)
            if self._encoding and 200 <= status < 300:
                raise FetchError("bad_response", f"the file comes encoded ({self._encoding}), which was not asked for")
            self._taken = self._sink.begin(status, self._headers)
        except HoldfastError as error:
            self._stopped = error
            return False
        return True


def _status(lines: Sequence[bytes]) -> int:
    """That of the last header block: libcurl cannot be asked while it is in the middle of an exchange."""
    words = next((line.split() for line in reversed(lines) if line.startswith(b"HTTP/")), [])
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
