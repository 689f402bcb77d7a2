"""What becomes of the files of a folder of images: those that an earlier export names, and those that are wanted now.

Both may be many, so they are put in the order of their names outside memory, and met one name after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from holdfast.errors import BadParams
from holdfast.ports import Storage

DONE, BEGUN, WANTED = range(3)  # who names a file: the last manifest, the journal of a killed export, this export
Naming = tuple[str, str, int, int]  # a file, the hash of its content, who names it, and where its line begins


class NamedFile(msgspec.Struct):
    """What a line of the manifest or the journal says of whose a file is."""

    file: str
    sha256: str


class FileOfFolder(msgspec.Struct):
    """One name with the hashes of what stood there, or may stand there. Without `wanted` it is to go."""

    name: str
    done: set[str]
    ours: set[str]
    wanted: str = ""
    line_at: int = -1


class Lines:
    """The lines of the manifest that is to come, in a file: they are gone through several times."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.count = file, 0

    def add(self, line: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self.count += 1

    def at(self, begin: int) -> dict[str, Any]:
        self._file.seek(begin)
        return _decoded(self._file.readline())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        return map(_decoded, self._file)

    def namings(self) -> Iterator[Naming]:
        begin = 0
        self._file.seek(0)
        for text in self._file:
            line = _decoded(text)
            yield line["file"], line["sha256"], WANTED, begin
            begin += len(text)


def files_by_name(storage: Storage, manifest: Path, journal: Path, lines: Lines) -> Iterator[FileOfFolder]:
    """All of them, each once. BadParams where it cannot be read which files are ours."""
    every = chain(_named_in(storage, manifest, DONE), _named_in(storage, journal, BEGUN), lines.namings())
    ordered = storage.in_order(every, kind=Naming, key=lambda naming: naming)
    for name, namings in groupby(ordered, key=lambda naming: naming[0]):
        yield _gathered(name, namings)


def _gathered(name: str, namings: Iterable[Naming]) -> FileOfFolder:
    file = FileOfFolder(name, set(), set())
    for _, digest, who, line_at in namings:
        file.ours.add(digest)
        if who == DONE:
            file.done.add(digest)
        elif who == WANTED:
            file.wanted, file.line_at = digest, line_at
    return file


def _named_in(storage: Storage, path: Path, who: int) -> Iterator[Naming]:
    """Which files an earlier export wrote here, or was about to write, with their hashes: no others are ours."""
    if not path.is_file():
        return
    try:
        with storage.opened(path) as lines:
            for line in lines:
                row = msgspec.json.decode(line, type=NamedFile)
                if _is_inside(row.file):
                    yield row.file, row.sha256, who, -1
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadParams(
            f"{path} cannot be read ({error}): which files an export wrote there is not known",
            hint="-o another-folder/",
        ) from None


def _is_inside(name: str) -> bool:
    return bool(name) and ".." not in Path(name).parts and not Path(name).is_absolute()


def _decoded(line: bytes) -> dict[str, Any]:
    return msgspec.json.decode(line, type=dict[str, Any])
