"""Content decoding under budgets: undoes gzip and deflate as a body arrives, and never holds more than the budget.

libcurl's own decoder is not used: a limit that counts bytes before they are unpacked has no effect on a bomb.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.errors import FetchError
from holdfast.model.exchange import Budget

ACCEPTED = "gzip, deflate"
STEP_BYTES = 65_536  # unpacked at a time, so that a budget is overrun by no more than this
GZIP_MAGIC = b"\x1f\x8b"
_SYNONYMS = {"x-gzip": "gzip"}
_WINDOW_GZIP, _WINDOW_ZLIB, _WINDOW_RAW = 31, 15, -15


def encodings_of(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """What Content-Encoding says was applied, in that order; `identity` is nothing."""
    listed = ",".join(value for name, value in headers if name == "content-encoding").lower().split(",")
    names = (_SYNONYMS.get(name.strip(), name.strip()) for name in listed)
    return tuple(name for name in names if name not in ("", "identity"))


class Decoder:
    """One body on its way in. `feed` and `finish` raise FetchError where a budget or the data forbids to go on."""

    __slots__ = ("_budget", "_kept_bytes", "_pieces", "_received_bytes", "_stages")

    def __init__(self, encodings: tuple[str, ...], budget: Budget) -> None:
        if len(encodings) > budget.encodings_max:
            raise FetchError("bomb", f"{len(encodings)} nested encodings; at most {budget.encodings_max}")
        self._budget = budget
        self._stages = [_Stage(name) for name in reversed(encodings)]
        self._pieces: list[bytes] = []
        self._received_bytes = 0
        self._kept_bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the wire."""
        self._received_bytes += len(chunk)
        self._pass_on(chunk, 0)

    def finish(self) -> bytes:
        """The whole decoded body, once the transfer is complete. No bytes at all are an empty body."""
        if self._received_bytes:
            for stage in self._stages:
                if not stage.is_complete():
                    raise FetchError("body_incomplete", f"the {stage.name} body ends too early")
        return b"".join(self._pieces)

    def _pass_on(self, piece: bytes, depth: int) -> None:
        if depth == len(self._stages):
            self._keep(piece)
            return
        stage = self._stages[depth]
        for unpacked in stage.unpack(piece):
            self._check_ratio(stage.produced_bytes)
            self._check_size(stage.produced_bytes)
            self._pass_on(unpacked, depth + 1)

    def _check_ratio(self, produced_bytes: int) -> None:
        budget = self._budget
        if produced_bytes >= budget.ratio_from_bytes and produced_bytes > budget.ratio_max * self._received_bytes:
            raise FetchError("bomb", f"{self._received_bytes} bytes unpacked into more than {produced_bytes}")

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._budget.body_bytes_max:
            raise FetchError("body_too_large", f"the body is larger than {self._budget.body_bytes_max} bytes")

    def _keep(self, piece: bytes) -> None:
        self._kept_bytes += len(piece)
        self._check_size(self._kept_bytes)
        self._pieces.append(piece)


class _Stage:
    """One encoding being undone. A gzip body may have several members; what follows the last is padding."""

    __slots__ = ("_ended", "_head", "_padding", "_unpacker", "name", "produced_bytes")

    def __init__(self, name: str) -> None:
        if name not in ("gzip", "deflate"):
            raise FetchError("bad_response", f"the answer is encoded as {name[:40]!r}, which was not asked for")
        self.name = name
        self.produced_bytes = 0
        self._unpacker: Any = None
        self._head = b""
        self._ended = False
        self._padding = False

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        """The decoded form of `piece`, at most STEP_BYTES at a time, each counted before it is handed on."""
        piece = self._head + piece
        self._head = b""
        while piece and not self._padding:
            if self._unpacker is None and not self._open(piece):
                return
            yield from self._drain(piece)
            piece = self._unpacker.unused_data
            if self._unpacker.eof:
                self._ended, self._unpacker = True, None

    def is_complete(self) -> bool:
        return self._ended and self._unpacker is None

    def _open(self, piece: bytes) -> bool:
        """Choose by the first two bytes; False where they are not there yet, or only padding is."""
        if len(piece) < len(GZIP_MAGIC):
            self._head = piece
            return False
        if self._ended and (self.name != "gzip" or not piece.startswith(GZIP_MAGIC)):
            self._padding = True
            return False
        self._unpacker = zlib.decompressobj(_WINDOW_GZIP if self.name == "gzip" else _deflate_window(piece))
        return True

    def _drain(self, piece: bytes) -> Iterator[bytes]:
        more = True
        while more:
            try:
                unpacked = self._unpacker.decompress(piece, STEP_BYTES)
            except zlib.error as error:
                raise FetchError("bad_response", f"the body is not valid {self.name}: {error}") from None
            piece = self._unpacker.unconsumed_tail
            # A full step may have left output behind in zlib although all of its input is consumed.
            more = not self._unpacker.eof and (bool(piece) or len(unpacked) == STEP_BYTES)
            self.produced_bytes += len(unpacked)
            yield unpacked


def _deflate_window(head: bytes) -> int:
    """RFC 9110 means zlib, some servers send the bare stream; a zlib header is a multiple of 31 that names method 8."""
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _WINDOW_ZLIB if is_zlib else _WINDOW_RAW
