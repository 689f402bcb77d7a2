"""One page as one WARC/1.1 `response` record in one gzip member, and back. Pure: it never touches a file.

The stored block is the page after content decoding, so the headers that described its framing on the wire are kept
under `X-Archive-Orig-` and Content-Length is that of the decoded bytes. Equal bodies give equal members.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b, sha256
from http import HTTPStatus

from isal import isal_zlib

from holdfast.clock import iso
from holdfast.errors import BadParams, Corrupt
from holdfast.model.outcome import Body, BodyRef

DEFLATE_LEVEL = 1  # isal: the size of zlib's level 1 in a fifth of its time
GZIP_WBITS = 31  # a gzip frame: its CRC covers the headers too, which sha256 does not
BODY_BYTES_MAX = 256 * 1024 * 1024
HEAD_BYTES_MAX = 2 * 1024 * 1024  # WARC and HTTP headers of one record
HTTP_HEAD_CHARS_MAX = 262_144  # more than any fetch lets through; at most four bytes each
MEMBER_BYTES_MAX = BODY_BYTES_MAX + BODY_BYTES_MAX // 1000 + 2 * HEAD_BYTES_MAX  # what cannot be compressed grows
NOTED = frozenset({"content-encoding", "transfer-encoding"})
NOTE = "X-Archive-Orig-"
END = b"\r\n\r\n"
LINE = b"\r\n"
_REASONS = {int(status): status.phrase for status in HTTPStatus}
_NO_BREAKS = str.maketrans("\r\n\0", "   ")  # a header that smuggles a line break must not end the block early


def member(body: Body, *more: str) -> bytes:
    """The record as one gzip member; `more` are header lines of its own."""
    http = _http_head(body)
    head = _warc_head(body, len(http) + len(body.content), more) + http
    if len(body.content) > BODY_BYTES_MAX or len(head) > HEAD_BYTES_MAX:  # `payload` would refuse to give it back
        raise BadParams(f"{body.url[:200]}: {len(body.content)} bytes do not fit a segment; at most {BODY_BYTES_MAX}")
    return _compressed(b"".join((head, body.content, END)))


def info_member(fields: dict[str, str], at_ms: int) -> bytes:
    """The `warcinfo` record that begins a file. It names no file, so that a copy of another name is the same."""
    block = "".join(f"{name}: {value.translate(_NO_BREAKS)}\r\n" for name, value in fields.items()).encode()
    lines = (
        "WARC/1.1",
        "WARC-Type: warcinfo",
        f"WARC-Record-ID: <urn:uuid:{_uuid(f'{at_ms} warcinfo {sha256(block).hexdigest()}')}>",
        f"WARC-Date: {_date(at_ms)}",
        "Content-Type: application/warc-fields",
        f"Content-Length: {len(block)}",
    )
    return _compressed(_block(lines) + block + END)


def request_member(body: Body, head: bytes, content: bytes) -> bytes:
    """The `request` record of the exchange that gave this body."""
    block = head + content
    name = f"{body.fetched_at} {body.sha256.hex()} {body.url}"
    lines = (
        "WARC/1.1",
        "WARC-Type: request",
        f"WARC-Record-ID: <urn:uuid:{_uuid(f'request {name} {sha256(block).hexdigest()}')}>",
        f"WARC-Concurrent-To: <urn:uuid:{_uuid(name)}>",
        f"WARC-Date: {_date(body.fetched_at)}",
        f"WARC-Target-URI: {body.url}",
        "Content-Type: application/http; msgtype=request",
        f"Content-Length: {len(block)}",
    )
    return _compressed(_block(lines) + block + END)


def redated(stored: bytes, reference: BodyRef, at_ms: int) -> bytes:
    """The same record as if it had been fetched at another moment: its date, its id, and the answer's own Date."""
    record = _inflated(stored, reference)
    head, _, rest = record.partition(END)
    http, _, body = rest.removesuffix(END).partition(END)
    wire_date = f"{datetime.fromtimestamp(at_ms / 1000, tz=UTC):%a, %d %b %Y %H:%M:%S} GMT".encode()
    answer = [b"Date: " + wire_date if _is(line, b"date") else line for line in http.split(LINE)]
    block = LINE.join(answer) + END + body
    url = next((line.partition(b": ")[2] for line in head.split(LINE) if _is(line, b"warc-target-uri")), b"")
    fresh = {
        b"warc-date": f"WARC-Date: {_date(at_ms)}".encode(),
        b"warc-record-id": f"WARC-Record-ID: <urn:uuid:{_uuid_of(at_ms, reference.sha256.hex(), url)}>".encode(),
        b"content-length": f"Content-Length: {len(block)}".encode(),
    }
    lines = [fresh.get(line.partition(b":")[0].lower(), line) for line in head.split(LINE)]
    return _compressed(LINE.join(lines) + END + block + END)


def _is(line: bytes, name: bytes) -> bool:
    return line.partition(b":")[0].lower() == name


def _uuid_of(at_ms: int, digest: str, url: bytes) -> str:
    return _uuid(f"{at_ms} {digest} {url.decode('latin-1')}")


def _compressed(record: bytes) -> bytes:
    return isal_zlib.compress(record, DEFLATE_LEVEL, GZIP_WBITS)


def payload(stored: bytes, reference: BodyRef) -> bytes:
    """The body of a member, checked against its reference; Corrupt where anything differs.

    Nothing in the member is parsed: the reference says where its payload lies, and the hash says whether that is true.
    """
    if not 0 <= reference.size <= BODY_BYTES_MAX:
        raise damaged(reference, f"claims a body of {reference.size} bytes")
    record = _inflated(stored, reference)
    content = record[len(record) - len(END) - reference.size : -len(END)]
    if sha256(content).digest() != reference.sha256:
        raise damaged(reference, f"does not have the sha256 {reference.sha256.hex()}")
    return content


def answer_of(stored: bytes, reference: BodyRef) -> Body:
    """The body of a member with what stands before it; headers that were only noted are left out."""
    content = payload(stored, reference)
    record = _inflated(stored, reference)
    head = record[: len(record) - len(END) - reference.size]
    warc, _, http = head.decode("latin-1").partition(END.decode())
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in warc.split("\r\n"))}
    first, *lines = http.rstrip("\r\n").split("\r\n")
    try:
        status = int(first.split(" ")[1])
        fetched_at = round(datetime.fromisoformat(fields["warc-date"]).timestamp() * 1000)
    except (KeyError, ValueError, IndexError) as error:
        raise damaged(reference, f"has no head that can be read ({error})") from None
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    kept = tuple((name.lower(), value) for name, value in headers if not name.startswith(NOTE))
    return Body(fields.get("warc-target-uri", ""), status, kept, content, reference.sha256, reference.media, fetched_at)


def damaged(reference: BodyRef, what: str) -> Corrupt:
    """What is wrong, and where it lies."""
    return Corrupt(f"segment {reference.segment} at offset {reference.offset}: the stored page {what}")


def _inflated(stored: bytes, reference: BodyRef) -> bytes:
    stream = zlib.decompressobj(GZIP_WBITS)
    try:
        record = stream.decompress(stored, reference.size + HEAD_BYTES_MAX)
    except zlib.error as error:
        raise damaged(reference, f"cannot be decompressed ({error})") from None
    if not stream.eof:
        raise damaged(reference, "is cut off, or larger than its reference says")
    if stream.unused_data:
        raise damaged(reference, "is shorter than its reference says")
    return record


def _warc_head(body: Body, block_bytes: int, more: Sequence[str] = ()) -> bytes:
    digest = body.sha256.hex()
    lines = (
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <urn:uuid:{_uuid(f'{body.fetched_at} {digest} {body.url}')}>",
        f"WARC-Date: {_date(body.fetched_at)}",
        f"WARC-Target-URI: {body.url}",
        f"WARC-Payload-Digest: sha256:{digest}",
        *more,
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {block_bytes}",
    )
    return _block(lines)


def _uuid(name: str) -> str:
    """A UUID of version 8 (RFC 9562) that depends on the name alone."""
    text = blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()
    return f"{text[:8]}-{text[8:12]}-8{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _date(wall_ms: int) -> str:
    """As `iso` writes it; many pages are fetched in one second."""
    second, rest = divmod(wall_ms, 1000)
    return f"{_second(second)}.{rest:03}Z" if rest else f"{_second(second)}Z"


@lru_cache(16)
def _second(second: int) -> str:
    return str(iso(second * 1000)).removesuffix("Z")


def _http_head(body: Body) -> bytes:
    lines = [f"HTTP/1.1 {body.status} {_REASONS.get(body.status, '')}"]
    room = HTTP_HEAD_CHARS_MAX
    for name, value in body.headers:
        plain = name.lower()
        note = NOTE if plain in NOTED else ""
        line = f"{note}{name}: {value}"
        room -= len(line) + 2
        if plain != "content-length" and room >= 0:
            lines.append(line)
    lines.append(f"Content-Length: {len(body.content)}")
    return _block(lines)


def _block(lines: Sequence[str]) -> bytes:
    """Header bytes as received; what no server can have sent as Latin-1 is written as UTF-8."""
    text = "\r\n".join(lines)
    if text.count("\r") + text.count("\n") + text.count("\0") > 2 * (len(lines) - 1):
        text = "\r\n".join(line.translate(_NO_BREAKS) for line in lines)
    try:
        return text.encode("latin-1") + END
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace") + END
