"""Content decoding under budgets: undoes encodings as a body arrives, and never holds more than the budget.

libcurl's own decoder is not used: a limit that counts bytes before they are unpacked has no effect on a bomb.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.errors import FetchError
from holdfast.fetch.http.unpackers import ENCODINGS, NotPacked, Unpacker
from holdfast.model.exchange import Budget

ACCEPTED = ", ".join(ENCODINGS)
_SYNONYMS = {"x-gzip": "gzip"}


def encodings_of(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """What Content-Encoding says was applied, in that order; `identity` is nothing."""
    listed = ",".join(value for name, value in headers if name == "content-encoding").lower().split(",")
    names = (_SYNONYMS.get(name.strip(), name.strip()) for name in listed)
    return tuple(name for name in names if name not in ("", "identity"))


class Decoder:
    """One body on its way in. All three verbs raise FetchError where a budget or the data forbids to go on.

    `kept_bytes` is how much of the decoded body is held.
    """

    __slots__ = ("_budget", "_pieces", "_received_bytes", "_stages", "kept_bytes")

    def __init__(self, encodings: tuple[str, ...], budget: Budget) -> None:
        if len(encodings) > budget.encodings_max:
            raise FetchError("bomb", f"{len(encodings)} nested encodings; at most {budget.encodings_max}")
        self._budget = budget
        self._stages = [_Stage(name, budget.members_max) for name in reversed(encodings)]
        self._pieces: list[bytes] = []
        self._received_bytes = 0
        self.kept_bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the wire."""
        for _ in self.steps(chunk) or ():
            pass

    def steps(self, chunk: bytes) -> Iterator[None] | None:
        """Take the next bytes of the wire, about STEP_BYTES of output or one empty member at a time. None: they were
        not packed, and are taken."""
        self._received_bytes += len(chunk)
        if self._stages:
            return self._pass_on(chunk, 0)
        self._keep(chunk)
        return None

    def finish(self) -> bytes:
        """The whole decoded body, once the transfer is complete. No bytes at all are an empty body."""
        if self._received_bytes:
            for stage in self._stages:
                if not stage.is_complete():
                    raise FetchError("body_incomplete", f"the {stage.name} body ends too early")
        return b"".join(self._pieces)

    def _pass_on(self, piece: bytes, depth: int) -> Iterator[None]:
        stage, is_last = self._stages[depth], depth + 1 == len(self._stages)
        for unpacked in stage.unpack(piece):
            self._check_ratio(stage.produced_bytes)
            self._check_size(stage.produced_bytes)
            if is_last:
                self._keep(unpacked)
                yield
            else:
                yield from self._pass_on(unpacked, depth + 1)

    def _check_ratio(self, produced_bytes: int) -> None:
        budget = self._budget
        if produced_bytes >= budget.ratio_from_bytes and produced_bytes > budget.ratio_max * self._received_bytes:
            raise FetchError("bomb", f"{self._received_bytes} bytes unpacked into more than {produced_bytes}")

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._budget.body_bytes_max:
            raise FetchError("body_too_large", f"the body is larger than {self._budget.body_bytes_max} bytes")

    def _keep(self, piece: bytes) -> None:
        self.kept_bytes += len(piece)
        self._check_size(self.kept_bytes)
        self._pieces.append(piece)


class _Stage:
    """One encoding being undone. A body may have several members or frames; what follows the last is padding.

    They are counted: an empty one costs time and gives nothing that another budget would count.
    """

    __slots__ = ("_encoding", "_ended", "_head", "_members_left", "_padding", "_unpacker", "name", "produced_bytes")

    def __init__(self, name: str, members_max: int) -> None:
        if name not in ENCODINGS:
            raise FetchError("bad_response", f"the answer is encoded as {name[:40]!r}, which was not asked for")
        self.name = name
        self.produced_bytes = 0
        self._members_left = members_max
        self._encoding = ENCODINGS[name]
        self._unpacker: Unpacker | None = None
        self._head = b""
        self._ended = False
        self._padding = False

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        """The decoded form of `piece`, about STEP_BYTES at a time, each counted before it is handed on."""
        piece = self._head + piece
        self._head = b""
        while piece and not self._padding:
            unpacker = self._unpacker or self._next(piece)
            if unpacker is None:
                return
            yield from self._drain(unpacker, piece)
            piece = unpacker.rest
            self._ended = unpacker.ended
            self._unpacker = None if unpacker.ended else unpacker

    def is_complete(self) -> bool:
        return self._ended and self._unpacker is None

    def _next(self, piece: bytes) -> Unpacker | None:
        """Choose by the first bytes; None where they are not there yet, or only padding is."""
        encoding, head = self._encoding, piece[: self._encoding.head_bytes]
        if self._ended and not any(start.startswith(head) for start in encoding.again):
            if not encoding.pads:
                raise FetchError("bad_response", f"bytes follow the end of the {self.name} body")
            self._padding = True
        elif len(head) < encoding.head_bytes:
            self._head = piece
        else:
            self._members_left -= 1
            if self._members_left < 0:
                raise FetchError("bomb", f"the {self.name} body has too many members or frames")
            return encoding.open(piece)
        return None

    def _drain(self, unpacker: Unpacker, piece: bytes) -> Iterator[bytes]:
        try:
            for unpacked in unpacker.steps(piece):
                self.produced_bytes += len(unpacked)
                yield unpacked
        except NotPacked as error:
            raise FetchError("bad_response", f"the body is not valid {self.name}: {error}") from None
