"""The content encodings, each undone a step at a time: no call gives out much more than STEP_BYTES, whatever it is fed.

A limit that counts afterwards is none: a bomb has filled the memory by then. So every library is asked for a bounded
piece, again and again. Brotli and zstd are loaded by the first answer that is packed so.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

STEP_BYTES = 65_536
ZSTD_WINDOW_LOG_MAX = 23  # RFC 9659: 8 MB; a frame may ask for gigabytes
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = tuple(bytes((low, 0x2A, 0x4D, 0x18)) for low in range(0x50, 0x60))
_WINDOW_GZIP, _WINDOW_ZLIB, _WINDOW_RAW = 31, 15, -15


class NotPacked(ValueError):
    """The bytes are not what their encoding says."""


class Unpacker(Protocol):
    """One packed stream. `rest` is what followed its end, once `ended`."""

    ended: bool
    rest: bytes

    def steps(self, piece: bytes) -> Iterator[bytes]:
        """The unpacked form of the next bytes, piece by piece; NotPacked where they make no sense."""


class _Zlib:
    """gzip, zlib and bare deflate, told apart by the window they are opened with."""

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)
        self.ended, self.rest = False, b""

    def steps(self, piece: bytes) -> Iterator[bytes]:
        more = True
        while more:
            try:
                unpacked = self._stream.decompress(piece, STEP_BYTES)
            except zlib.error as error:
                raise NotPacked(str(error)) from None
            piece = self._stream.unconsumed_tail
            # A full step may have left output behind in zlib although all of its input is consumed.
            more = not self._stream.eof and (bool(piece) or len(unpacked) == STEP_BYTES)
            self.ended, self.rest = self._stream.eof, self._stream.unused_data
            yield unpacked


class _Brotli:
    """RFC 7932. It knows no padding: the library calls bytes behind the end an error, and so do we."""

    def __init__(self) -> None:
        import brotli

        self._stream, self._error = brotli.Decompressor(), brotli.error
        self.ended, self.rest = False, b""

    def steps(self, piece: bytes) -> Iterator[bytes]:
        more = True
        while more:
            try:
                unpacked = self._stream.process(piece, output_buffer_limit=STEP_BYTES)
            except self._error as error:
                raise NotPacked(str(error).removeprefix("brotli: ")) from None
            piece = b""
            self.ended = self._stream.is_finished()
            # It says that it can take more as soon as its input is consumed, with output still to come.
            more = not self.ended and (bool(unpacked) or not self._stream.can_accept_more_data())
            yield unpacked


class _Zstd:
    """RFC 8878, one frame, with a window no larger than the web allows."""

    def __init__(self) -> None:
        zstd = _load_zstd()
        limit = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG_MAX}
        self._stream, self._error = zstd.ZstdDecompressor(options=limit), zstd.ZstdError
        self.ended, self.rest = False, b""

    def steps(self, piece: bytes) -> Iterator[bytes]:
        more = True
        while more:
            try:
                unpacked = self._stream.decompress(piece, STEP_BYTES)
            except self._error as error:
                raise NotPacked(str(error).rpartition(": ")[2]) from None
            piece = b""
            self.ended = self._stream.eof
            self.rest = self._stream.unused_data if self.ended else b""
            more = not self.ended and not self._stream.needs_input
            yield unpacked


def _load_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _open_deflate(head: bytes) -> Unpacker:
    """RFC 9110 means zlib, some servers send the bare stream; a zlib header is a multiple of 31 that names method 8."""
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _Zlib(_WINDOW_ZLIB if is_zlib else _WINDOW_RAW)


class Encoding(NamedTuple):
    """How an encoding is opened by its first bytes, and what may stand behind its end."""

    open: Callable[[bytes], Unpacker]
    head_bytes: int
    again: tuple[bytes, ...] = ()  # how a further stream begins, where there may be one: members, frames
    pads: bool = True  # whether other bytes behind the end are padding, which is dropped


ENCODINGS = {
    "gzip": Encoding(lambda _head: _Zlib(_WINDOW_GZIP), 2, (_GZIP_MAGIC,)),
    "deflate": Encoding(_open_deflate, 2),
    "br": Encoding(lambda _head: _Brotli(), 1, pads=False),
    "zstd": Encoding(lambda _head: _Zstd(), 4, (_ZSTD_MAGIC, *_ZSTD_SKIPPABLE)),
}
