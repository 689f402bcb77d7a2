"""WARC files from any writer, read record by record: plain, or one gzip member per record. However large the file, only
the beginning of one record is in memory.

A file that is cut off or damaged gives what stands before that place, and says where it stopped.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from holdfast.errors import BadParams

GZIP = b"\x1f\x8b"
BEGINS = b"WARC/"
READ_BYTES = 65_536
HEAD_BYTES_MAX = 1_048_576  # a record's own headers
HEAD_LINES_MAX = 1_000
BLOCK_BYTES_MAX = 262_144  # of what follows them, kept to read an HTTP head from
SLACK_BYTES = 16  # line ends behind a block: four bytes, and some writers add more
GZIP_WBITS = 31
AS_A_WHOLE = (
    "it is compressed as a whole, not record by record, so no page can be read without all before it; unpack it "
    "(gunzip -k) and name the .warc"
)
_LINE = re.compile(rb"\r?\n")
_END = re.compile(rb"\r?\n\r?\n")


class WarcRecord(msgspec.Struct, frozen=True, gc=False):
    """One record: where it begins in its file, its headers by lower-case name, and the first bytes of its block."""

    offset: int
    headers: dict[str, str]
    block: bytes

    @property
    def type(self) -> str:
        return self.headers.get("warc-type", "")

    @property
    def url(self) -> str:
        """Some writers put the URL into angle brackets."""
        return self.headers.get("warc-target-uri", "").strip("<>")


class Stopped(Exception):
    """The file cannot be read further: a sentence for people."""


def check_archive(file: BinaryIO, name: str) -> None:
    """BadParams where the file does not begin as a WARC does, or no record of it can be read by itself."""
    start = file.read(READ_BYTES)
    file.seek(0)
    if start.startswith(GZIP):
        try:
            start = zlib.decompressobj(GZIP_WBITS).decompress(start, HEAD_BYTES_MAX)
        except zlib.error:
            raise BadParams(f"{name} cannot be unpacked: its first bytes are not valid gzip") from None
        if start.startswith(BEGINS) and (end := _END.search(start)) is not None and BEGINS in start[end.end() :]:
            _check_alone(start, name)
    if not start.startswith(BEGINS):
        raise BadParams(f"{name} is no WARC file" if start else f"{name} is empty: no WARC file")


def _check_alone(start: bytes, name: str) -> None:
    try:
        headers, begin = _headers(start, 0)
        if len(start) > begin + _length(headers, 0) + SLACK_BYTES:
            raise Stopped(AS_A_WHOLE)
    except Stopped as stopped:
        raise BadParams(f"{name}: {stopped}") from None


def records(file: BinaryIO) -> Iterator[WarcRecord]:
    """The records in their order. Stopped: behind the last one given, nothing can be read."""
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    return _members(file) if packed else _plain(file)


def _plain(file: BinaryIO) -> Iterator[WarcRecord]:
    offset, size = 0, file.seek(0, 2)
    while offset < size:
        file.seek(offset)
        start = file.read(READ_BYTES)
        blank = len(start) - len(start.lstrip(b"\r\n"))
        if blank:
            offset += blank
            continue
        headers, begin = _headers(_with_head(file, start), offset)
        length = _length(headers, offset)
        if offset + begin + length > size:
            raise Stopped(f"it ends within the record at byte {offset}: cut off")
        file.seek(offset + begin)
        yield WarcRecord(offset, headers, file.read(min(length, BLOCK_BYTES_MAX)))
        offset += begin + length


def _with_head(file: BinaryIO, start: bytes) -> bytes:
    """`start`, which was just read, and as much more as the headers need."""
    while _END.search(start) is None and len(start) <= HEAD_BYTES_MAX and (more := file.read(READ_BYTES)):
        start += more
    return start


def _members(file: BinaryIO) -> Iterator[WarcRecord]:
    """Each gzip member is one record."""
    offset, rest = 0, b""
    while True:
        rest = rest or file.read(READ_BYTES)
        if not rest.strip(b"\0"):
            if not rest:
                return
            offset, rest = offset + len(rest), b""  # padding behind the last member
            continue
        start, size, packed, rest = _member(file, rest, offset)
        headers, begin = _headers(start, offset)
        length = _length(headers, offset)
        if size < begin + length:
            raise Stopped(f"the record at byte {offset} is shorter than it says")
        if size > begin + length + SLACK_BYTES:
            raise Stopped(AS_A_WHOLE)
        yield WarcRecord(offset, headers, start[begin : begin + min(length, BLOCK_BYTES_MAX)])
        offset += packed


def _member(file: BinaryIO, rest: bytes, offset: int) -> tuple[bytes, int, int, bytes]:
    """(its first bytes, its size unpacked, its size in the file, what was read behind it)"""
    stream = zlib.decompressobj(GZIP_WBITS)
    kept, size, packed, piece = bytearray(), 0, 0, rest
    while True:
        packed += len(piece)
        while piece and not stream.eof:
            try:
                out = stream.decompress(piece, READ_BYTES)
            except zlib.error as error:
                raise Stopped(f"the record at byte {offset} cannot be unpacked ({error})") from None
            piece = stream.unconsumed_tail
            size += len(out)
            if len(kept) < HEAD_BYTES_MAX + BLOCK_BYTES_MAX:
                kept += out
        if stream.eof:
            return bytes(kept), size, packed - len(stream.unused_data), stream.unused_data
        piece = file.read(READ_BYTES)
        if not piece:
            raise Stopped(f"it ends within the record at byte {offset}: cut off")


def read_block(file: BinaryIO, offset: int, block_bytes_max: int) -> tuple[dict[str, str], bytes]:
    """The headers and the whole block of the record at this place; not more of it than `block_bytes_max`."""
    file.seek(offset)
    taken = file.read(READ_BYTES)
    packed = taken.startswith(GZIP)
    if packed:
        file.seek(offset)
        taken = _unpacked(file, HEAD_BYTES_MAX + block_bytes_max)
    else:
        taken = _with_head(file, taken)
    headers, begin = _headers(taken, offset)
    length = min(_length(headers, offset), block_bytes_max)
    block = taken[begin : begin + length]
    return headers, block if packed else block + file.read(length - len(block))


def _unpacked(file: BinaryIO, bytes_max: int) -> bytes:
    stream, parts, size = zlib.decompressobj(GZIP_WBITS), [], 0
    while not stream.eof and size < bytes_max:
        piece = stream.unconsumed_tail or file.read(READ_BYTES)
        if not piece:
            break
        try:
            parts.append(stream.decompress(piece, min(READ_BYTES * 16, bytes_max - size)))
        except zlib.error as error:
            raise Stopped(f"a record cannot be unpacked ({error})") from None
        size += len(parts[-1])
    return b"".join(parts)


def _headers(start: bytes, offset: int) -> tuple[dict[str, str], int]:
    """The record's headers, and where its block begins. Lines that begin with a blank continue the one before."""
    end = _END.search(start, 0, HEAD_BYTES_MAX)
    if not start.startswith(BEGINS) or (end is None and len(start) < HEAD_BYTES_MAX):
        raise Stopped(f"what stands at byte {offset} is no WARC record")
    lines = _LINE.split(start[: end.start()], HEAD_LINES_MAX) if end is not None else []
    if end is None or len(lines) > HEAD_LINES_MAX:
        raise Stopped(f"the record at byte {offset} has more headers than can be read")
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines[1:]:
        text = line.decode("utf-8", "replace")
        if text[:1] in " \t" and name:
            found[name].append(text.strip())
            continue
        name, _, value = text.partition(":")
        name = name.strip().lower()
        found[name] = [value.strip()]
    return {each: " ".join(parts) for each, parts in found.items()}, end.end()


def _length(headers: dict[str, str], offset: int) -> int:
    text = headers.get("content-length", "")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Stopped(f"the record at byte {offset} does not say how long it is")
    return int(text)
