"""Files in one file: a plain tar (ustar) that any tar can list, whose every byte is checked on reading.

Headers carry a name and a size and nothing of this computer, so there is one way to write them and any other is damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import BinaryIO

from holdfast.model.snapshot import damaged

BLOCK = 512
READ_BYTES = 1 << 20
NAME_BYTES_MAX = 100
END = bytes(2 * BLOCK)


class TarWriter:
    """Writes members one after another; `end` closes the file."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.bytes = 0

    def add(self, name: str, size: int, blocks: Iterable[bytes]) -> str:
        """The sha256 of what was written; the blocks have `size` bytes in all."""
        self._put(header(name, size))
        digest, left = sha256(), size
        for block in blocks:
            digest.update(block)
            left -= len(block)
            self._put(block)
        assert left == 0, f"{name} has another size than it was said to have"
        self._put(bytes(-size % BLOCK))
        return digest.hexdigest()

    def end(self) -> None:
        self._put(END)

    def _put(self, block: bytes) -> None:
        self._write(block)
        self.bytes += len(block)


class TarReader:
    """The members of a file by name. Damaged frames are refused at once; contents are checked when they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self._index(file.seek(0, 2))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    def size(self, name: str) -> int:
        return self._places[name][1]

    def blocks(self, name: str) -> Iterator[bytes]:
        at, left = self._places[name]
        while left:
            block = self._read(at, min(left, READ_BYTES))
            at, left = at + len(block), left - len(block)
            yield block

    def _index(self, end: int) -> None:
        at = 0
        while (frame := self._read(at, BLOCK)) != END[:BLOCK]:
            name, size = _named(frame)
            if size < 0 or frame != header(name, size) or name in self._places:
                raise damaged("a frame in it is not one that Holdfast writes")
            self._places[name] = (at + BLOCK, size)
            at += BLOCK + size
            if self._read(at, -size % BLOCK).strip(b"\0"):
                raise damaged(f"there is something behind {name}")
            at += -size % BLOCK
        if self._read(at, end - at) != END:
            raise damaged("it does not end as it should")

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        block = self._file.read(min(size, READ_BYTES))
        if len(block) != size:
            raise damaged("it is cut off, or goes on behind its end")
        return block


def header(name: str, size: int) -> bytes:
    """A member's frame: no owner, no date."""
    texts = (f"{0o644:07o}", f"{0:07o}", f"{0:07o}", f"{size:011o}", f"{0:011o}")  # mode, owner, group, size, date
    fields = b"".join(
        (
            name.encode("ascii").ljust(NAME_BYTES_MAX, b"\0"),
            *(text.encode() + b"\0" for text in texts),
            b" " * 8,  # the checksum, as it counts itself
            b"0".ljust(101, b"\0"),  # a plain file, and no link
            b"ustar\x0000",
        )
    ).ljust(BLOCK, b"\0")
    return fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]


def _named(frame: bytes) -> tuple[str, int]:
    """What a frame says; whether it may say so is seen by making the same frame again."""
    try:
        return frame[:NAME_BYTES_MAX].rstrip(b"\0").decode("ascii"), int(frame[124:135], 8)
    except ValueError:
        raise damaged("it is not a snapshot, or its beginning was overwritten") from None
