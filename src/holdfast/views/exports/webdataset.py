"""WebDataset: tar files of numbered samples, an image and its JSON each. The same images give the same bytes.

A sample goes to its part (train, val, test) by the hash of its image, so that a larger set later moves none of them.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from holdfast.errors import BadParams
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.recipes.images.facts import LIST
from holdfast.recipes.images.validation import EXTENSIONS
from holdfast.views.exports.folder_owner import is_left_over
from holdfast.views.exports.form import Asked, Write, in_groups
from holdfast.views.exports.form_row import FOLDER, Form
from holdfast.views.exports.image_files import blocks_of, images_in_order, refuse_others
from holdfast.views.results import Results

FORM = Form(name="webdataset", ending=FOLDER, place=100, title="a folder of shards", has_shards=True)

SHARD = 10_000
PARTS = ("train", "val", "test")
MARK = "holdfast export"  # the owner of each file in a shard: no user's name has a blank
Split = tuple[tuple[str, int], ...]  # part, percent


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    raise _needs_folder()


def write_into(asked: Asked, path: Path) -> int:
    check_early(asked.results.kind, path)
    return write_shards(asked.results, asked.storage, path, shard=asked.shard, split=read_split(asked.split))


def check_early(kind: Kind, path: Path | None) -> None:
    refuse_others(kind, "webdataset")
    if path is None:
        raise _needs_folder()
    if path.is_dir():
        _shards_in(path)


def _needs_folder() -> BadParams:
    return BadParams("shards are a folder of files, and do not go to stdout", hint="-o FOLDER/ --format webdataset")


def read_split(text: str) -> Split:
    """`80/10/10` as percent of train, val and test; empty: one part."""
    if not text:
        return (("", 100),)
    shares: list[int] = []
    with suppress(ValueError):
        shares = [int(part) for part in text.split("/")]
    if not 2 <= len(shares) <= len(PARTS) or sum(shares) != 100 or min(shares) < 0:
        raise BadParams(f"--split {text!r} is not a division of 100 such as 80/20 or 80/10/10 (train/val/test)")
    return tuple(zip(PARTS, shares, strict=False))


def write_shards(results: Results, storage: Storage, folder: Path, *, shard: int | None, split: Split) -> int:
    """`train-000000.tar` and so on, or `000000.tar` without parts; how many images."""
    folder.mkdir(exist_ok=True)
    surplus = set(_shards_in(folder))
    written = 0
    for part, _ in split:
        mine = (image for image in images_in_order(results, storage) if part_of(image["sha256"], split) == part)
        for number, images in enumerate(in_groups(mine, shard or SHARD)):
            name = f"{part}-{number:06d}.tar" if part else f"{number:06d}.tar"
            first = number * (shard or SHARD)
            storage.write_file(folder / name, partial(_fill, storage=storage, images=images, part=part, first=first))
            surplus.discard(folder / name)
            written += len(images)
    for old in surplus:  # only now: an export that is killed or fails has taken nothing away
        old.unlink(missing_ok=True)
    return written


def part_of(digest: str, split: Split) -> str:
    """By the image alone: the same image is in the same part in every export."""
    place = int.from_bytes(sha256(bytes.fromhex(digest)).digest()[:8], "big") % 100
    for part, share in split:
        if place < share:
            return part
        place -= share
    return split[-1][0]


def _shards_in(folder: Path) -> list[Path]:
    """Files of an earlier export, when all of the folder is known; anything else is somebody's, and stays as it is."""
    shards = [path for path in folder.iterdir() if not is_left_over(path.name)]
    for path in shards:
        if not _is_shard(path):
            raise BadParams(f"{folder} has something else in it: {path.name}", hint="name an empty folder")
    return shards


def _is_shard(path: Path) -> bool:
    """Others' shards have such names, too: ours have our mark inside."""
    part, _, number = path.stem.rpartition("-")
    if path.suffix != ".tar" or not number.isdigit() or len(number) != 6 or part not in ("", *PARTS):
        return False
    with suppress(OSError, tarfile.TarError), tarfile.open(path, "r:") as tar:
        first = tar.next()
        return first is not None and first.uname == MARK
    return False


def _fill(file: BinaryIO, *, storage: Storage, images: Iterable[dict[str, Any]], part: str, first: int) -> None:
    """The key of a sample has its part: train and test are often read together."""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for number, image in enumerate(images, first):
            key = f"{part}-{number:09d}" if part else f"{number:09d}"
            extension = EXTENSIONS.get(image["format"], "bin")
            _add(tar, f"{key}.{extension}", b"".join(blocks_of(storage, image)))
            _add(tar, f"{key}.json", msgspec.json.encode(image))
            _add(tar, f"{key}.txt", _text(image).encode())


def _text(image: Mapping[str, Any]) -> str:
    """The caption, where the list has one, as other tools write it; else what the image was looked for by."""
    return (image["engine"] == LIST and image["title"]) or str(image["keyword"])


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime, entry.uname = len(content), 0o644, 0, MARK
    tar.addfile(entry, io.BytesIO(content))
