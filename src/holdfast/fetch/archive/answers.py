"""The HTTP answer in the block of a WARC record, as a fetch would have given it: framing and encodings undone.

Archives differ in what they keep. A block whose headers say `chunked` or `gzip` may have been stored with that undone:
then its bytes are taken as they are.
"""

from __future__ import annotations

from holdfast.errors import FetchError
from holdfast.fetch.http.decode import Decoder, encodings_of
from holdfast.fetch.http1 import Chunked, Head
from holdfast.model.exchange import Budget, Headers

NOTE = "x-archive-orig-"  # our own segments keep under it what described the body on the wire
NOTED = ("content-encoding", "transfer-encoding")
NEWER = (b"HTTP/2", b"HTTP/3")
OLD = b"HTTP/1.1"
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip and zstd begin so: what does is damaged, not undone


def read_head(block: bytes, budget: Budget) -> tuple[int, Headers, bytes]:
    """(status, headers, what follows them). FetchError where the block does not begin as an HTTP answer does."""
    if block.startswith(NEWER):
        block = OLD + block.partition(b" ")[1] + block.partition(b" ")[2]
    head = Head(budget)
    rest = head.feed(block)
    if rest is None:
        raise FetchError("bad_response", "the archived headers have no end")
    return head.status, head.headers, rest


def read_body(headers: Headers, raw: bytes, budget: Budget) -> tuple[bytes, str]:
    """(the decoded body, the encoding that was undone)."""
    if "chunked" in "".join(value for name, value in headers if name == "transfer-encoding").lower():
        raw = _without_chunks(raw, budget)
    encodings = encodings_of(headers)
    decoder = Decoder(encodings, budget)
    try:
        decoder.feed(raw)
        return decoder.finish(), ", ".join(encodings)
    except FetchError as error:
        if error.code != "bad_response" or not encodings or raw.startswith(PACKED):
            raise
    plain = Decoder((), budget)
    plain.feed(raw)
    return plain.finish(), ""


def as_received(headers: Headers) -> Headers:
    """What our own segments noted of the wire, under its own name again."""
    noted = tuple(NOTE + name for name in NOTED)
    return tuple((name.removeprefix(NOTE) if name in noted else name, value) for name, value in headers)


def _without_chunks(raw: bytes, budget: Budget) -> bytes:
    framing = Chunked(budget.header_bytes_max)
    try:
        body = framing.take(raw)
    except FetchError:
        return raw
    return body if framing.ended else raw
