"""One pooled libcurl handle and the exchange it carries at the moment: its options, its callbacks, how it ended.

It is configured once; an exchange sets the URL and nothing else. It follows no redirect.
"""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator, Sequence

import pycurl

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http import descriptors
from holdfast.fetch.http.decode import Decoder, encodings_of
from holdfast.fetch.http.headers import header_lines, parse_headers
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.route import TO_THE_PROXY, Route
from holdfast.model.exchange import POST, Budget, Headers, Request, Response

BUFFER_BYTES = 131_072
SLICE_MS = 20  # of decoding, before the event loop has its turn
OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
PROXY_WANTS_SIGN_IN = 407
TOO_LARGE = 100  # CURLE_TOO_LARGE: a single header beyond libcurl's own limit; pycurl has no name for it
NO_COLON = "Header without colon"  # libcurl rejects the whole answer, and has no option for it
TOO_LARGE_HEADERS = "Too large response headers"  # all together; libcurl has only this sentence for it
_CODES = {
    pycurl.E_UNSUPPORTED_PROTOCOL: "bad_response",  # the URL's scheme was checked: this is HTTP/0.9 or worse
    pycurl.E_URL_MALFORMAT: "bad_url",
    pycurl.E_COULDNT_RESOLVE_HOST: "dns_error",
    pycurl.E_FTP_WEIRD_SERVER_REPLY: "bad_response",
    pycurl.E_PARTIAL_FILE: "body_incomplete",
    pycurl.E_OUT_OF_MEMORY: "no_resources",
    pycurl.E_WRITE_ERROR: "internal",  # our own callback stopped it without saying why
    pycurl.E_OPERATION_TIMEDOUT: "network_timeout",
    pycurl.E_BAD_CONTENT_ENCODING: "bad_response",
    pycurl.E_FILESIZE_EXCEEDED: "body_too_large",
    TOO_LARGE: "bad_response",
    **dict.fromkeys(
        (
            pycurl.E_SSL_CONNECT_ERROR,
            pycurl.E_SSL_CERTPROBLEM,
            pycurl.E_SSL_CIPHER,
            pycurl.E_PEER_FAILED_VERIFICATION,
            pycurl.E_SSL_CACERT_BADFILE,
            pycurl.E_SSL_ISSUER_ERROR,
            pycurl.E_SSL_INVALIDCERTSTATUS,
        ),
        "tls_error",
    ),
}
_PERHAPS_OURS = frozenset(
    {
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_FAILED_INIT,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CONNECT_ERROR,
    }
)
_CUT_HANDSHAKE = re.compile(r"reset by peer|SSL_ERROR_SYSCALL|unexpected eof|Broken pipe")


class HeaderWithoutColon(FetchError):
    """The answer has a header line that is none. Browsers skip the line; `LenientReader` can do so."""


class LentSocket:
    """A new socket as pycurl takes it: libcurl keeps a duplicate, ours is closed as soon as pycurl lets go of it."""

    __slots__ = ("_socket",)

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened

    def fileno(self) -> int:
        return self._socket.fileno()

    def __del__(self) -> None:
        self._socket.close()


class Exchange:
    """A handle that carries one exchange after another, never two at once."""

    # Of the present exchange only: `_reset` empties them.
    _chunks: int
    _progress: int
    _since_ms: int
    _began_ms: int
    _seen_ms: int
    _steps: Iterator[None] | None  # of decoding, still to be made
    _waits: bool  # whether libcurl was told to read no further
    _crowded: bool  # whether that is because too many bytes are held
    _connected: bool
    _opened: bool
    _decoder: Decoder | None
    _failure: FetchError | None
    _refusal: str | None
    _headers: Headers
    _encoding: str

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
        self.curl = pycurl.Curl()
        self._clock, self._in_flight = clock, in_flight
        self._proxied, self._pinned = bool(route.proxy), ""
        self._guard = TO_THE_PROXY if route.proxy else guard
        self._budget, self._common = budget, list(headers)
        self._mappings = guard.mappings()
        self._lines: list[bytes] = []
        self._is_sending = False  # whether the last exchange was more than a GET
        self._configure(route)
        self._set_headers(())
        self._reset()

    def begin(self, url: str, headers: Headers, now_ms: int, request: Request | None = None) -> None:
        """Prepare for the next exchange. `request`: where it is more than a GET of the URL."""
        self._reset()
        if request is not None or self._is_sending:
            self._set_method(request)
        self._since_ms = self._began_ms = self._seen_ms = now_ms
        self.curl.setopt(pycurl.URL, url)
        if headers != self._extra:
            self._set_headers(headers)

    def pin(self, endpoint: str) -> None:
        """Have the proxy connect to `host:port:address:port` for the next exchange."""
        if endpoint != self._pinned:
            self._pinned = endpoint
            self.curl.setopt(pycurl.CONNECT_TO, [*self._mappings, endpoint])

    def overdue(self, now_ms: int) -> str | None:
        """The sentence for a passed deadline but for that of connecting. Asked a few times a second; notes progress
        itself. Time in which we could not take more is not the host's."""
        budget, progress = self._budget, len(self._lines) + self._chunks
        if self._crowded:
            self._began_ms += now_ms - self._seen_ms
        self._seen_ms = now_ms
        if now_ms - self._began_ms >= budget.total_s * 1000:
            return f"total: not complete after {budget.total_s:g} s"
        if self._waits:
            self._since_ms = now_ms
        elif progress != self._progress:
            self._progress, self._since_ms, self._connected = progress, now_ms, True
        elif not self._connected:
            self._connected = self.curl.getinfo(pycurl.REQUEST_SIZE) > 0
            self._since_ms = now_ms
        elif progress == 0 and now_ms - self._since_ms >= budget.first_byte_s * 1000:
            return f"no first byte for {budget.first_byte_s:g} s"
        elif progress and now_ms - self._since_ms >= budget.idle_s * 1000:
            return f"idle: no further byte for {budget.idle_s:g} s"
        return None

    def response(self, url: str, elapsed_ms: int) -> Response:
        """The complete answer. Raises FetchError where it is complete and yet no answer."""
        if self._failure is not None:
            raise self._failure
        decoder = self._decoder or self._read_headers()
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if self._proxied and status == PROXY_WANTS_SIGN_IN:
            raise FetchError("network_error", "the proxy wants a user and a password (407)")
        body = decoder.finish()
        self._in_flight.give_out(self)
        self._decoder = None
        return Response(
            url=url,
            status=status,
            headers=self._headers,
            body=body,
            encoding=self._encoding,
            address=self.curl.getinfo(pycurl.PRIMARY_IP),
            elapsed_ms=elapsed_ms,
        )

    def failure(self, code: int, message: str) -> FetchError:
        """What libcurl's ending means in our codes."""
        if self._failure is not None:
            return self._failure
        if code == pycurl.E_COULDNT_CONNECT and self._refusal is not None and not self._opened:
            return FetchError("blocked_address", self._refusal)
        if code in _PERHAPS_OURS and descriptors.are_short():
            return FetchError("no_resources", f"this process has no descriptors left (ulimit -n): {message}")
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return FetchError("network_timeout", self._not_connected())
        if code == pycurl.E_FTP_WEIRD_SERVER_REPLY and message == NO_COLON:
            return HeaderWithoutColon("bad_response", message)
        if code == pycurl.E_COULDNT_RESOLVE_PROXY:
            message = "the name of the proxy could not be resolved"
        if code == pycurl.E_FILESIZE_EXCEEDED:
            message = f"the body is larger than {self._budget.body_bytes_max} bytes"
        if code == TOO_LARGE and not message:
            message = "a header is larger than libcurl takes"
        name = "bad_response" if message.startswith(TOO_LARGE_HEADERS) else _CODES.get(code, "network_error")
        if name == "tls_error" and _CUT_HANDSHAKE.search(message):
            name = "network_error"
        return FetchError(name, message or f"libcurl error {code}")

    @property
    def began_ms(self) -> int:
        """When it began, moved by the time in which we could not take more."""
        return self._began_ms

    @property
    def is_behind(self) -> bool:
        """Whether bytes that have come in are still to be decoded."""
        return self._steps is not None

    def go_on(self, until_ms: int) -> None:
        """Decode what is left of the last bytes, for a moment; then have libcurl bring more, if it was told to wait.

        Raises FetchError where the exchange is over by that.
        """
        if self._steps is not None:
            try:
                self._decode(until_ms)
            except FetchError as failure:
                raise self.fail(failure) from None
        if self._waits and self._steps is None and self._in_flight.admits(self):
            self._waits = self._crowded = False
            try:
                self.curl.pause(pycurl.PAUSE_CONT)  # may call `_on_body` at once
            except pycurl.error as error:
                raise self.fail(self.failure(*error.args)) from None

    def fail(self, failure: FetchError) -> FetchError:
        """End it by our own will; also where all of it has come in and only the decoding is not done."""
        self._failure, self._steps, self._waits = failure, None, False
        return failure

    def end(self) -> None:
        """Hold nothing of it any longer, however it ended."""
        if self._decoder is not None:
            self._in_flight.drop(self)
            self._decoder = self._steps = None

    def close(self) -> None:
        self.curl.close()

    def _reset(self) -> None:
        self._lines.clear()
        self._chunks = self._progress = self._since_ms = self._began_ms = self._seen_ms = 0
        self._connected = self._opened = self._waits = self._crowded = False
        self._steps = self._decoder = self._failure = self._refusal = None
        self._headers, self._encoding = (), ""

    def _configure(self, route: Route) -> None:
        budget, setopt = self._budget, self.curl.setopt
        setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        setopt(pycurl.FOLLOWLOCATION, 0)
        setopt(pycurl.NOSIGNAL, 1)
        setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        setopt(pycurl.CONNECTTIMEOUT_MS, round(budget.connect_s * 1000))
        setopt(pycurl.MAXFILESIZE_LARGE, budget.body_bytes_max)
        setopt(pycurl.BUFFERSIZE, BUFFER_BYTES)
        setopt(pycurl.CONNECT_TO, self._mappings)
        setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        setopt(pycurl.HEADERFUNCTION, self._lines.append)
        setopt(pycurl.WRITEFUNCTION, self._on_body)
        route.apply(self.curl)

    def _set_method(self, request: Request | None) -> None:
        """A request with a body goes out on a connection of its own: over one that was used before, libcurl would send
        it once more by itself where the server closed that meanwhile."""
        setopt, unset = self.curl.setopt, self.curl.unsetopt
        self._is_sending = request is not None
        unset(pycurl.CUSTOMREQUEST)
        setopt(pycurl.NOBODY, 0)
        setopt(pycurl.HTTPGET, 1)
        setopt(pycurl.FRESH_CONNECT, int(request is not None))
        setopt(pycurl.FORBID_REUSE, int(request is not None))
        if request is None:
            return
        if request.method == "HEAD":
            setopt(pycurl.NOBODY, 1)
            return
        if request.body or request.method == POST:
            setopt(pycurl.POST, 1)
            setopt(pycurl.POSTFIELDS, request.body)
        setopt(pycurl.CUSTOMREQUEST, request.method)

    def _set_headers(self, headers: Headers) -> None:
        self.curl.setopt(pycurl.HTTPHEADER, self._common + header_lines(headers))
        self._extra = headers

    def _open_socket(self, _purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> LentSocket | int:
        """The guard's moment: called by libcurl for every connection, with the address it is about to connect to."""
        family, kind, protocol, (host, port, *_) = address
        refusal = self._guard.refusal(host, port)
        if refusal is not None:
            self._refusal = refusal
            return int(pycurl.SOCKET_BAD)
        self._opened = True
        try:
            lent = LentSocket(socket.socket(family, kind, protocol))
        except OSError as error:
            code = "no_resources" if error.errno in OUT_OF_RESOURCES else "network_error"
            self._failure = FetchError(code, f"no socket could be opened: {error.strerror}")
            return int(pycurl.SOCKET_BAD)
        # The lowest number is given first: all below this one are taken.
        if lent.fileno() >= descriptors.limit() - descriptors.SPARE:
            self._failure = FetchError("no_resources", "the last descriptors of this process are kept (ulimit -n)")
            return int(pycurl.SOCKET_BAD)
        self._failure = None  # of another of the host's addresses
        return lent

    def _on_body(self, chunk: bytes) -> int | None:
        if self._steps is not None or not self._in_flight.admits(self):
            self._waits, self._crowded = True, self._steps is None
            return int(pycurl.WRITEFUNC_PAUSE)  # libcurl brings this chunk again
        self._chunks += 1
        try:
            decoder = self._decoder or self._read_headers()
            self._steps = decoder.steps(chunk)
            if self._steps is None:
                self._in_flight.receive(self, decoder.kept_bytes)
            else:
                self._decode(self._clock.monotonic_ms() + SLICE_MS)
        except FetchError as failure:
            self.fail(failure)
            return 0
        return None

    def _decode(self, until_ms: int) -> None:
        """As far as the moment lasts, and there is room. The rest is for `go_on`."""
        decoder, steps = self._decoder, self._steps
        assert decoder is not None
        assert steps is not None
        for _ in steps:
            if self._clock.monotonic_ms() >= until_ms or not self._in_flight.admits(self):
                break
        else:
            self._steps = None
        self._in_flight.receive(self, decoder.kept_bytes)

    def _read_headers(self) -> Decoder:
        size = sum(map(len, self._lines))
        if size > self._budget.header_bytes_max:
            raise FetchError("bad_response", f"the headers are larger than {self._budget.header_bytes_max} bytes")
        self._headers = parse_headers(self._lines)
        encodings = encodings_of(self._headers)
        self._encoding = ", ".join(encodings)
        self._decoder = Decoder(encodings, self._budget)
        return self._decoder

    def _not_connected(self) -> str:
        budget = self._budget
        if budget.total_s <= budget.connect_s:
            return f"total: not complete after {budget.total_s:g} s"
        return f"connect: no connection for {budget.connect_s:g} s"
