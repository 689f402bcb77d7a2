"""A folder of images: one folder per keyword with `0001.jpg` and so on, and a manifest of what each file is.

`metadata.jsonl` is the part of it that Hugging Face's `imagefolder` reads: `file_name`, `text`, and what to train on.

A name is given once and for all, so the folder is written again and again into the same place: files that are there
stay, those of images that were thrown out since are removed, and the manifest is written last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from holdfast.errors import BadParams
from holdfast.model.cells import csv_line
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.image_files import FileNames, blocks_of, images_in_order
from holdfast.views.results import Results

MANIFEST = "manifest.jsonl"
TABLE = "manifest.csv"
METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # by which `imagefolder` knows the column
METADATA_COLUMNS = ("keyword", "url", "width", "height", "sha256")


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    raise _needs_folder()


def check_early(kind: Kind, path: Path | None) -> None:
    if path is None:
        raise _needs_folder()
    _names_in(path / MANIFEST)


def _needs_folder() -> BadParams:
    return BadParams("images are a folder of files, and do not go to stdout", hint="-o FOLDER/, or --format jsonl")


def write_into(asked: Asked, path: Path) -> int:
    path.mkdir(exist_ok=True)
    return write_folder(asked.results, asked.storage, path)


def write_folder(results: Results, storage: Storage, folder: Path) -> int:
    """Every kept image as a file; how many."""
    before = _names_in(folder / MANIFEST)
    lines: list[dict[str, Any]] = []
    names = FileNames(results.job.params["keywords"])
    for image in images_in_order(results, storage):
        name = names.name(image)
        if not _is_there(folder / name, image["bytes"], before.get(name) == image["sha256"]):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            storage.write_file(folder / name, _filled(blocks_of(storage, image)))
        lines.append({"file": name, **image})
    for gone in before.keys() - {line["file"] for line in lines}:
        (folder / gone).unlink(missing_ok=True)
    columns = ("file", *results.columns())
    storage.write_file(folder / TABLE, _filled(_table(columns, lines)))
    storage.write_file(folder / METADATA, _filled(_metadata(lines)))
    storage.write_file(folder / MANIFEST, _filled(msgspec.json.encode(line) + b"\n" for line in lines))
    return len(lines)


def _table(columns: tuple[str, ...], lines: list[dict[str, Any]]) -> Iterator[bytes]:
    yield csv_line(columns)
    yield from (csv_line(line.get(name) for name in columns) for line in lines)


def _metadata(lines: list[dict[str, Any]]) -> Iterator[bytes]:
    """`text` is the caption or title. Columns that were saved from a list are fields of their own, ours win."""
    for line in lines:
        saved = line["columns"] or {}
        ours = {name: line[name] for name in METADATA_COLUMNS}
        yield msgspec.json.encode({**saved, FILE_NAME: line["file"], "text": line["title"], **ours}) + b"\n"


def _filled(blocks: Iterator[bytes]) -> Callable[[BinaryIO], None]:
    def write(file: BinaryIO) -> None:
        file.writelines(blocks)

    return write


def _is_there(path: Path, size: int, known: bool) -> bool:
    return known and path.is_file() and path.stat().st_size == size


def _names_in(manifest: Path) -> dict[str, str]:
    """Which files an earlier export wrote here, with their hashes. Only such files are ever replaced or removed."""
    if not manifest.exists():
        if manifest.parent.is_dir() and any(manifest.parent.iterdir()):
            raise BadParams(
                f"{manifest.parent} is not empty, and has no {MANIFEST} of an earlier export",
                hint="name another folder",
            )
        return {}
    found: dict[str, str] = {}
    for line in manifest.read_bytes().splitlines():
        row = msgspec.json.decode(line)
        name = str(row.get("file", ""))
        if name and ".." not in Path(name).parts and not Path(name).is_absolute():
            found[name] = str(row.get("sha256", ""))
    return found
