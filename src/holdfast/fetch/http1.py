"""HTTP/1.1 answers as some servers write them: a header line without a colon is skipped and counted.

Pure: bytes in, values out, all of it bounded. Only answers that libcurl rejects for such a line are read here.
"""

from __future__ import annotations

import re

from holdfast.errors import FetchError
from holdfast.fetch.http.headers import parse_headers
from holdfast.model.exchange import NOT_MODIFIED, Budget, Headers

HEADERS_MAX = 5000  # libcurl's own limit
LINE_BYTES_MAX = 16_384  # of a chunk's size with its extensions
SMALL_CHUNKS_MAX = 100_000  # each costs some microseconds; beyond them, chunks must have a size
CHUNK_BYTES_MEAN_MIN = 64
NO_CONTENT = 204
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] +([1-9][0-9][0-9])(?=[ \r\n])")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")


class Head:
    """The status and the header fields on their way in. `skipped` counts the lines that are not headers."""

    def __init__(self, budget: Budget) -> None:
        self.status = self.skipped = 0
        self._bytes_max = budget.header_bytes_max
        self._bytes = self._count = 0
        self._rest = bytearray()  # of a line that is not complete yet
        self._fields: list[list[bytes]] = []  # each with the lines that continue it
        self._continues = False

    def feed(self, piece: bytes) -> bytes | None:
        """Take the next bytes: the first of the body once the head is complete, None before."""
        seen, start = len(self._rest), 0
        self._rest += piece
        while (end := self._rest.find(b"\n", max(start, seen)) + 1) > 0:
            line, start = bytes(self._rest[start:end]), end
            if self._takes_last(line):
                return bytes(self._rest[start:])
        del self._rest[:start]
        self._check(self._bytes + len(self._rest))
        return None

    @property
    def headers(self) -> Headers:
        return parse_headers((b"HTTP/1.1", *(b" ".join(lines) for lines in self._fields)))

    def _takes_last(self, line: bytes) -> bool:
        """Take a line; whether it ends the head. What came before an answer (1xx) is forgotten."""
        self._bytes, self._count = self._bytes + len(line), self._count + 1
        self._check(self._bytes)
        if b"\0" in line:
            raise FetchError("bad_response", "NUL byte in header")
        if not self.status:
            self._begin(line)
        elif line.strip():
            self._take_field(line)
        elif self.status < 200:
            self.status = 0
        else:
            return True
        return False

    def _begin(self, line: bytes) -> None:
        found = _STATUS_LINE.match(line)
        if found is None:
            raise FetchError("bad_response", "Invalid status line")
        self.status, self._continues = int(found[1]), False
        self._fields.clear()

    def _take_field(self, line: bytes) -> None:
        if line[:1] not in b" \t":
            name, colon, _ = line.partition(b":")
            self._continues = bool(colon and name.strip())
            if self._continues:
                self._fields.append([])
        if self._continues:
            self._fields[-1].append(line.strip())
        else:
            self.skipped += 1

    def _check(self, size_bytes: int) -> None:
        if size_bytes > self._bytes_max:
            raise FetchError("bad_response", f"the headers are larger than {self._bytes_max} bytes")
        if self._count > HEADERS_MAX:
            raise FetchError("bad_response", f"Too many response headers, {HEADERS_MAX} is max")


class UntilClose:
    """A body that ends where the connection does."""

    ended = False
    may_end = True  # whether it is complete when the connection is closed

    def take(self, piece: bytes) -> bytes:
        """What of the next bytes belongs to the body."""
        return piece


class Sized:
    """A body of a length that was told; what follows it is left."""

    may_end = False

    def __init__(self, size_bytes: int) -> None:
        self._left = size_bytes

    @property
    def ended(self) -> bool:
        return self._left == 0

    def take(self, piece: bytes) -> bytes:
        kept = piece[: self._left]
        self._left -= len(kept)
        return kept


class Chunked:
    """A body in chunks, each behind its size. One piece gives one piece, however many chunks it has."""

    may_end = False

    def __init__(self, extra_bytes_max: int) -> None:
        self.ended = False
        self._left = 0  # of the present chunk
        self._chunks = self._sizes = 0
        self._line = b""
        self._behind_data = self._in_trailers = False
        self._extra_bytes_left = extra_bytes_max  # extensions and trailers together: bytes that give nothing

    def take(self, piece: bytes) -> bytes:
        kept, at = [], 0
        while at < len(piece) and not self.ended:
            if self._left:
                kept.append(piece[at : at + self._left])
                at, self._left = at + len(kept[-1]), self._left - len(kept[-1])
                continue
            end = piece.find(b"\n", at) + 1 or len(piece)
            self._line += piece[at:end]
            at = end
            if len(self._line) > LINE_BYTES_MAX:
                raise FetchError("bad_response", f"a line between chunks is larger than {LINE_BYTES_MAX} bytes")
            if self._line.endswith(b"\n"):
                line, self._line = self._line, b""
                self._take_line(line)
        return b"".join(kept)

    def _take_line(self, line: bytes) -> None:
        text = line.strip()
        if self._in_trailers:
            self._take_extra(len(line))
            self.ended = not text
        elif self._behind_data:
            self._behind_data = False
            if text:
                raise FetchError("bad_response", "a chunk is longer than its size")
        else:
            digits, _, extension = text.partition(b";")
            self._take_extra(len(extension))
            size = _CHUNK_SIZE.fullmatch(digits.rstrip())
            if size is None:
                raise FetchError("bad_response", "a chunk has no valid size")
            self._left = int(size[0], 16)
            self._chunks, self._sizes = self._chunks + 1, self._sizes + self._left
            if self._chunks > max(SMALL_CHUNKS_MAX, self._sizes // CHUNK_BYTES_MEAN_MIN):
                raise FetchError("bad_response", f"{self._chunks} chunks for {self._sizes} bytes")
            self._behind_data, self._in_trailers = self._left > 0, self._left == 0

    def _take_extra(self, size_bytes: int) -> None:
        self._extra_bytes_left -= size_bytes
        if self._extra_bytes_left < 0:
            raise FetchError("bad_response", "the extensions and trailers of chunks are larger than headers may be")


Framing = UntilClose | Sized | Chunked


def framing_of(status: int, headers: Headers, budget: Budget) -> Framing:
    """How the body of this answer ends."""
    if status in (NO_CONTENT, NOT_MODIFIED):
        return Sized(0)
    transfer = [word for word in _words(headers, "transfer-encoding") if word != "identity"]
    if transfer == ["chunked"]:
        return Chunked(budget.header_bytes_max)
    if transfer:
        raise FetchError("bad_response", "the transfer is encoded in a way that was not asked for")
    lengths = set(_words(headers, "content-length"))
    if not lengths:
        return UntilClose()
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise FetchError("bad_response", "Invalid Content-Length: value")
    if int(length) > budget.body_bytes_max:
        raise FetchError("body_too_large", f"the body is larger than {budget.body_bytes_max} bytes")
    return Sized(int(length))


def _words(headers: Headers, name: str) -> list[str]:
    listed = ",".join(value for key, value in headers if key == name).lower().split(",")
    return [word.strip() for word in listed if word.strip()]
