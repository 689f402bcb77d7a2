"""A folder of WebDataset shards: what an earlier export wrote is replaced, and somebody's files stay as they are."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from holdfast.blobs.publish import publish
from holdfast.errors import BadParams
from holdfast.views.exports import webdataset
from holdfast.views.exports.webdataset import read_split, write_shards

Write = Callable[..., int]


class Disk:
    """The one verb of storage that shards need; there is room for so many files."""

    room = 1_000

    def write_file(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        self.room -= 1
        if self.room < 0:
            raise BadParams("no room")
        publish(path, write)


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Write:
    """Exports so many images in shards of two."""

    def images(count: int) -> list[dict[str, Any]]:
        return [
            {"sha256": f"{n:064x}", "format": "JPEG", "keyword": "cat", "engine": "bing", "title": ""}
            for n in range(count)
        ]

    def written(folder: Path, count: int, room: int = 1_000, split: str = "") -> int:
        disk: Any = Disk()
        disk.room = room
        monkeypatch.setattr(webdataset, "images_in_order", lambda *_: images(count))
        nothing: Any = None
        return write_shards(nothing, disk, folder, shard=2, split=read_split(split))

    monkeypatch.setattr(webdataset, "blocks_of", lambda *_: [b"jpeg"])
    return written


def others_shard(path: Path) -> bytes:
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("000000000.jpg")
        entry.size, entry.uname = 4, "holdfast"
        tar.addfile(entry, io.BytesIO(b"mine"))
    return path.read_bytes()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("beside", ["", "notes.txt"])
def test_shards_of_somebody_else_are_refused_and_stay(beside: str, write: Write, tmp_path: Path) -> None:
    before = {name: others_shard(tmp_path / name) for name in ("000000.tar", "000001.tar", "train-000000.tar")}
    if beside:
        (tmp_path / beside).touch()
    with pytest.raises(BadParams, match="something else"):
        write(tmp_path, 3)
    assert names(tmp_path) == sorted([*before, *([beside] if beside else [])])
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_file_beside_our_shards_is_refused_before_a_shard_is_touched(write: Write, tmp_path: Path) -> None:
    write(tmp_path, 6)
    for name in ("a.txt", "zz.txt"):
        (tmp_path / name).touch()
    with pytest.raises(BadParams, match="something else"):
        write(tmp_path, 1)
    assert names(tmp_path) == ["000000.tar", "000001.tar", "000002.tar", "a.txt", "zz.txt"]


def test_a_smaller_export_removes_the_shards_that_are_too_many(write: Write, tmp_path: Path) -> None:
    assert write(tmp_path, 6) == 6
    (tmp_path / ".publish-0123456789abcdef-00.tmp").touch()  # of an export that was killed
    assert write(tmp_path, 3) == 3
    assert [name for name in names(tmp_path) if name.endswith(".tar")] == ["000000.tar", "000001.tar"]


def test_an_export_that_fails_takes_no_shard_away(write: Write, tmp_path: Path) -> None:
    write(tmp_path, 6)
    with pytest.raises(BadParams, match="no room"):
        write(tmp_path, 6, room=1)
    assert names(tmp_path) == ["000000.tar", "000001.tar", "000002.tar"]
    assert write(tmp_path, 6) == 6


def test_no_two_samples_have_one_key_whatever_their_part(write: Write, tmp_path: Path) -> None:
    assert write(tmp_path, 40, split="50/50") == 40
    keys: list[str] = []
    for path in tmp_path.iterdir():
        with tarfile.open(path) as tar:
            keys += [name.removesuffix(".json") for name in tar.getnames() if name.endswith(".json")]
    assert len(set(keys)) == len(keys) == 40
    assert {key.partition("-")[0] for key in keys} == {"train", "val"}
