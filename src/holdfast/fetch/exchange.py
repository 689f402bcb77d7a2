"""One pooled libcurl handle and the exchange it carries at the moment: its options, its callbacks, how it ended.

It is configured once; an exchange sets the URL and nothing else. It follows no redirect.
"""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Sequence

import pycurl

from holdfast.errors import FetchError
from holdfast.fetch import descriptors
from holdfast.fetch.decode import Decoder, encodings_of
from holdfast.fetch.guard import Guard
from holdfast.fetch.headers import header_lines, parse_headers
from holdfast.fetch.route import TO_THE_PROXY, Route
from holdfast.model.exchange import Budget, Headers, Response

BUFFER_BYTES = 131_072
OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
PROXY_WANTS_SIGN_IN = 407
TOO_LARGE = 100  # CURLE_TOO_LARGE: a single header beyond libcurl's own limit; pycurl has no name for it
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
    _connected: bool
    _opened: bool
    _decoder: Decoder | None
    _failure: FetchError | None
    _refusal: str | None
    _headers: Headers
    _encoding: str

    def __init__(self, guard: Guard, budget: Budget, headers: Sequence[str], route: Route) -> None:
        self.curl = pycurl.Curl()
        self._proxied, self._pinned = bool(route.proxy), ""
        self._guard = TO_THE_PROXY if route.proxy else guard
        self._budget, self._common = budget, list(headers)
        self._mappings = guard.mappings()
        self._lines: list[bytes] = []
        self._configure(route)
        self._set_headers(())
        self._reset()

    def begin(self, url: str, headers: Headers, now_ms: int) -> None:
        """Prepare for the next exchange."""
        self._reset()
        self._since_ms = now_ms
        self.curl.setopt(pycurl.URL, url)
        if headers or self._extra:
            self._set_headers(headers)

    def pin(self, endpoint: str) -> None:
        """Have the proxy connect to `host:port:address:port` for the next exchange."""
        if endpoint != self._pinned:
            self._pinned = endpoint
            self.curl.setopt(pycurl.CONNECT_TO, [*self._mappings, endpoint])

    def overdue(self, now_ms: int) -> str | None:
        """The sentence for a passed first-byte or idle deadline. Asked a few times a second; notes progress itself."""
        budget, progress = self._budget, len(self._lines) + self._chunks
        if progress != self._progress:
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
        decoder = self._decoder or self._read_headers()
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if self._proxied and status == PROXY_WANTS_SIGN_IN:
            raise FetchError("network_error", "the proxy wants a user and a password (407)")
        return Response(
            url=url,
            status=status,
            headers=self._headers,
            body=decoder.finish(),
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
            return FetchError("network_timeout", self._passed_deadline())
        if code == pycurl.E_COULDNT_RESOLVE_PROXY:
            message = "the name of the proxy could not be resolved"
        if code == pycurl.E_FILESIZE_EXCEEDED:
            message = f"the body is larger than {self._budget.body_bytes_max} bytes"
        name = _CODES.get(code, "network_error")
        if name == "tls_error" and _CUT_HANDSHAKE.search(message):
            name = "network_error"
        return FetchError(name, message or f"libcurl error {code}")

    def close(self) -> None:
        self.curl.close()

    def _reset(self) -> None:
        self._lines.clear()
        self._chunks = self._progress = self._since_ms = 0
        self._connected = self._opened = False
        self._decoder = self._failure = self._refusal = None
        self._headers, self._encoding = (), ""

    def _configure(self, route: Route) -> None:
        budget, setopt = self._budget, self.curl.setopt
        setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        setopt(pycurl.FOLLOWLOCATION, 0)
        setopt(pycurl.NOSIGNAL, 1)
        setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        setopt(pycurl.CONNECTTIMEOUT_MS, round(budget.connect_s * 1000))
        setopt(pycurl.TIMEOUT_MS, round(budget.total_s * 1000))
        setopt(pycurl.MAXFILESIZE_LARGE, budget.body_bytes_max)
        setopt(pycurl.BUFFERSIZE, BUFFER_BYTES)
        setopt(pycurl.CONNECT_TO, self._mappings)
        setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        setopt(pycurl.HEADERFUNCTION, self._lines.append)
        setopt(pycurl.WRITEFUNCTION, self._on_body)
        route.apply(self.curl)

    def _set_headers(self, headers: Headers) -> None:
        self._extra = headers
        self.curl.setopt(pycurl.HTTPHEADER, self._common + header_lines(headers))

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
        if (
            lent.fileno() >= descriptors.limit() - descriptors.SPARE
        ):  # the lowest number is given first: all below are taken
            self._failure = FetchError("no_resources", "the last descriptors of this process are kept (ulimit -n)")
            return int(pycurl.SOCKET_BAD)
        return lent

    def _on_body(self, chunk: bytes) -> int | None:
        self._chunks += 1
        try:
            (self._decoder or self._read_headers()).feed(chunk)
        except FetchError as failure:
            self._failure = failure
            return 0
        return None

    def _read_headers(self) -> Decoder:
        size = sum(map(len, self._lines))
        if size > self._budget.header_bytes_max:
            raise FetchError("bad_response", f"the headers are larger than {self._budget.header_bytes_max} bytes")
        self._headers = parse_headers(self._lines)
        encodings = encodings_of(self._headers)
        self._encoding = ", ".join(encodings)
        self._decoder = Decoder(encodings, self._budget)
        return self._decoder

    def _passed_deadline(self) -> str:
        budget = self._budget
        if self.curl.getinfo(pycurl.REQUEST_SIZE) or budget.total_s <= budget.connect_s:
            return f"total: not complete after {budget.total_s:g} s"
        return f"connect: no connection for {budget.connect_s:g} s"
