"""Rows out of a packed segment, a piece at a time. However small a file is, what it unpacks to has a budget, and
only one slice of rows is in memory: a hostile file may unpack to more than the memory of its reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.control.snapshot import SEGMENT_BYTES, load_zstd
from holdfast.model.snapshot import Part, damaged

ROW_BYTES_MAX = 64 * 1024 * 1024  # the seeds of a job are one row
PIECE_BYTES = 1024 * 1024
WINDOW_LOG_MAX = 24  # a packed frame says how much memory it wants; ours want 4 MB at most
RATIO_MAX = 100  # rows have keys and digests, which nothing can pack: 30 is much
TEXT_BYTES_FREE = 8 * 1024 * 1024  # for small files no ratio is asked


class Allowance:
    """How many bytes of rows may come out of a snapshot in all, by how many were packed."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._left = max(TEXT_BYTES_FREE, RATIO_MAX * sum(part.bytes for part in parts))

    def spend(self, size: int, part: Part) -> None:
        self._left -= size
        if self._left < 0:
            raise damaged(f"{part.name} is larger than it may be: so much was never packed into a file of this size")


def lines(packed: Iterable[bytes], part: Part, allowance: Allowance) -> Iterator[bytes]:
    """The rows of one segment as they were written, each a line."""
    begun: list[bytes] = []  # of a line that is not whole yet
    size = 0
    for piece in _unpacked(packed, part):
        allowance.spend(len(piece), part)
        *whole, rest = piece.split(b"\n")
        if whole:
            yield b"".join([*begun, whole[0]])
            yield from whole[1:]
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > ROW_BYTES_MAX:
            raise damaged(f"a row of {part.table} is larger than it may be")
    if size:
        yield b"".join(begun)


def _unpacked(packed: Iterable[bytes], part: Part) -> Iterator[bytes]:
    """One frame and nothing behind it, no more than the program that wrote it would have put in."""
    zstd = load_zstd()
    stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG_MAX})
    left = SEGMENT_BYTES + ROW_BYTES_MAX
    for block in packed:
        given = block
        while given or not (stream.eof or stream.needs_input):
            if stream.eof:
                raise damaged(f"{part.name} goes on behind its end")
            try:
                piece: bytes = stream.decompress(given, PIECE_BYTES)
            except zstd.ZstdError as error:
                raise damaged(f"{part.name} cannot be decompressed ({error})") from None
            given = b""
            left -= len(piece)
            if left < 0:
                raise damaged(f"{part.name} is larger than it may be")
            yield piece
    if not stream.eof or stream.unused_data:
        raise damaged(f"{part.name} is not whole, or goes on behind its end")
