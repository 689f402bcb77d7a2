"""A folder of images: what an earlier export wrote is replaced or removed, and somebody's files stay as they are."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import msgspec
import pytest

from holdfast.blobs.publish import publish
from holdfast.blobs.spill import in_order, unnamed_file
from holdfast.errors import BadParams, DiskFull
from holdfast.views.exports import folder as image_folder
from holdfast.views.exports.folder import JOURNAL, MANIFEST, METADATA, TABLE, write_folder
from holdfast.views.exports.image_files import FileNames
from holdfast.views.exports.named_files import NamedFile

Write = Callable[..., int]
TABLES = {MANIFEST, METADATA, TABLE}


class Disk:
    """What the folder needs of storage; there is room for so many files."""

    def __init__(self, room: int) -> None:
        self._room = room

    def write_file(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        self._room -= 1
        if self._room < 0:
            raise DiskFull("no room")
        publish(path, write)

    def opened(self, path: Path) -> AbstractContextManager[BinaryIO]:
        return path.open("rb")

    def in_order(self, rows: Iterable[Any], *, kind: Any, key: Callable[[Any], Any]) -> Iterator[Any]:
        return in_order(rows, Path(tempfile.gettempdir()), kind=kind, key=key, rows_per_run=2)

    def unnamed_file(self) -> BinaryIO:
        return unnamed_file(Path(tempfile.gettempdir()))


class Columns:
    job = SimpleNamespace(params={"keywords": ["cat"]})

    def columns(self) -> tuple[str, ...]:
        return ("url",)


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch) -> Write:
    """Exports images of these numbers; the bytes of each are `content` and its number."""

    def image(number: int, text: str) -> dict[str, Any]:
        facts = {"keyword": "cat", "format": "JPEG", "columns": None, "title": text, "width": 9, "height": 9}
        digest = sha256(text.encode()).hexdigest()
        return {**facts, "number": number, "url": f"https://a.test/{number}", "bytes": len(text), "sha256": digest}

    def written(folder: Path, *numbers: int, content: str = "image", room: int = 1_000) -> int:
        rows = [image(number, f"{content} {number}") for number in numbers]
        monkeypatch.setattr(image_folder, "images_in_order", lambda *_: rows)
        results: Any = Columns()
        disk: Any = Disk(room)
        return write_folder(results, disk, folder)

    monkeypatch.setattr(image_folder, "blocks_of", lambda _, image: [image["title"].encode()])
    return written


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_is_no_longer_wanted_goes_and_a_file_that_was_changed_stays(write: Write, tmp_path: Path) -> None:
    assert write(tmp_path, 1, 2, 3) == 3
    (tmp_path / "cat/0003.jpg").write_bytes(b"image x")  # as long as ours
    (tmp_path / "cat/mine.jpg").touch()
    assert write(tmp_path, 1) == 1
    assert names(tmp_path) == {"cat/0001.jpg", "cat/0003.jpg", "cat/mine.jpg", *TABLES}
    assert (tmp_path / "cat/0003.jpg").read_bytes() == b"image x"


@pytest.mark.parametrize("known", [True, False])
def test_a_file_of_somebody_else_under_the_name_of_an_image_is_refused_and_stays(
    known: bool, write: Write, tmp_path: Path
) -> None:
    write(tmp_path, 1, *([2] if known else []))
    (tmp_path / "cat/0002.jpg").write_bytes(b"my own picture")
    told = "changed since it was exported" if known else "no export wrote it"
    with pytest.raises(BadParams, match=told):
        write(tmp_path, 1, 2)
    assert (tmp_path / "cat/0002.jpg").read_bytes() == b"my own picture"


@pytest.mark.parametrize("room", [0, 1, 2, 3, 4, 5])
def test_an_export_that_ended_half_way_is_completed_whatever_is_wanted_by_then(
    room: int, write: Write, tmp_path: Path
) -> None:
    """Room for the journal, two images, then the tables. In between the job was begun anew, and had other images."""
    with pytest.raises(DiskFull):
        write(tmp_path, 1, 2, room=room)
    with pytest.raises(DiskFull):
        write(tmp_path, 1, 2, content="other", room=2)
    assert write(tmp_path, 1, content="third") == 1
    assert names(tmp_path) == {"cat/0001.jpg", *TABLES}
    assert (tmp_path / "cat/0001.jpg").read_bytes() == b"third 1"


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
@pytest.mark.parametrize("line", [b'{"file": "cat/0001.jpg", "sha2', b"[1]", b"7", b'{"file": 7}', b"\xff\xfe"])
def test_a_manifest_that_cannot_be_read_is_told_and_nothing_is_written(
    name: str, line: bytes, write: Write, tmp_path: Path
) -> None:
    write(tmp_path, 1)
    before = names(tmp_path) | {name}
    (tmp_path / name).write_bytes(line)
    with pytest.raises(BadParams, match="cannot be read"):
        write(tmp_path, 2)
    assert names(tmp_path) == before


def test_names_that_lead_out_of_the_folder_are_not_followed(write: Write, tmp_path: Path) -> None:
    folder, outside = tmp_path / "set", tmp_path / "outside.jpg"
    folder.mkdir()
    outside.write_bytes(b"mine")
    digest = sha256(b"mine").hexdigest()
    lines = [{"file": name, "sha256": digest} for name in ("../outside.jpg", str(outside))]
    (folder / MANIFEST).write_bytes(b"\n".join(msgspec.json.encode(line) for line in lines))
    write(folder, 1)
    assert outside.read_bytes() == b"mine"


def test_a_folder_that_would_be_called_as_another_is_called_the_same_whatever_else_is_there() -> None:
    """By the hash of its keyword, not by how many there are; and no keyword can be spelled to take it."""
    words = ["what?", "what:", "What_", "what*"]
    for some in (words, [words[0], *words[2:]]):
        assert FileNames(some).folder("what*") == f"what_~{sha256(b'what*').hexdigest()[:8]}"
    spelled = f"CAT~{sha256(b'CAT').hexdigest()[:8]}"
    every = FileNames(["cat", spelled, "CAT"])
    assert len({every.folder(word).lower() for word in ("cat", spelled, "CAT")}) == 3


def test_an_export_holds_neither_its_images_nor_those_of_an_earlier_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, held = 2_000, []

    def images(*_: object) -> Iterator[dict[str, Any]]:
        facts = {"keyword": "cat", "format": "JPEG", "columns": None, "title": "", "width": 9, "height": 9}
        return ({**facts, "number": n, "url": f"https://a.test/{n}", "sha256": f"{n:064x}"} for n in range(count))

    class Nowhere(Disk):
        def write_file(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
            write(SimpleNamespace(writelines=deque(maxlen=0).extend))  # type: ignore[arg-type]
            if path.name in (TABLE, JOURNAL):
                ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/views/exports/*")])
                held.append(sum(trace.size for trace in ours.traces))

        def in_order(self, rows: Iterable[Any], *, kind: Any, key: Callable[[Any], Any]) -> Iterator[Any]:
            return in_order(rows, tmp_path, kind=kind, key=key, rows_per_run=100)

    rows = (NamedFile(f"cat/{n}.gif", f"{n:064x}") for n in range(count))
    (tmp_path / MANIFEST).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    monkeypatch.setattr(image_folder, "images_in_order", images)
    monkeypatch.setattr(image_folder, "blocks_of", lambda storage, image: iter(()))
    results, disk = Columns(), Nowhere(0)
    tracemalloc.start()
    try:
        assert write_folder(results, disk, tmp_path) == count  # type: ignore[arg-type]
    finally:
        tracemalloc.stop()
    assert len(held) == 2
    assert max(held) < 50 * count, "less than fifty bytes of each"
