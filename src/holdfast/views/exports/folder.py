"""A folder of images: one folder per keyword with `0001.jpg` and so on, and a manifest of what each file is.

`metadata.jsonl` is the part of it that Hugging Face's `imagefolder` reads: `file_name`, `text`, and what to train on.

A name is given once and for all, so the folder is written again and again into the same place: files that are there
stay, those of images that were thrown out since are removed, and the manifest is written last. What an export is about
to write is in its journal before: so the next one knows what a killed one left. A file whose bytes neither of them
names is somebody's, and is neither replaced nor removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.errors import BadParams
from holdfast.model.cells import csv_line
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.views.exports.folder_owner import MARK, is_left_over, is_marked, mark_folder
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.image_files import FileNames, blocks_of, images_in_order
from holdfast.views.exports.named_files import FileOfFolder, Lines, NamedFile, files_by_name
from holdfast.views.results import Results

MANIFEST = "manifest.jsonl"
JOURNAL = ".manifest.jsonl.part"
TABLE = "manifest.csv"
METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # by which `imagefolder` knows the column
BLOCK_BYTES = 1024 * 1024
METADATA_COLUMNS = ("keyword", "url", "width", "height", "sha256")


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    raise _needs_folder()


def check_early(kind: Kind, path: Path | None) -> None:
    if path is None:
        raise _needs_folder()
    if not is_marked(path) and path.is_dir() and not all(is_left_over(each.name) for each in path.iterdir()):
        raise BadParams(
            f"{path} is not empty, and has no {MARK} of an earlier export of images",
            hint="name another folder",
        )


def names_beside(kind: Kind) -> tuple[str, ...]:
    return MANIFEST, TABLE, METADATA


def _needs_folder() -> BadParams:
    return BadParams("images are a folder of files, and do not go to stdout", hint="-o FOLDER/, or --format jsonl")


def write_into(asked: Asked, path: Path) -> int:
    check_early(asked.results.kind, path)
    path.mkdir(exist_ok=True)
    mark_folder(asked.storage, asked.results.job, path)
    return write_folder(asked.results, asked.storage, path)


def write_folder(results: Results, storage: Storage, folder: Path) -> int:
    """Every kept image as a file; how many."""
    names = FileNames(results.job.params["keywords"])
    with storage.unnamed_file() as file:
        lines = Lines(file)
        for image in images_in_order(results, storage):
            lines.add({"file": names.name(image), **image})
        _write_images(storage, folder, lines)
        columns = ("file", *results.columns())
        storage.write_file(folder / TABLE, _filled(_table(columns, lines)))
        storage.write_file(folder / METADATA, _filled(_metadata(lines)))
        storage.write_file(folder / MANIFEST, _filled(msgspec.json.encode(line) + b"\n" for line in lines))
    (folder / JOURNAL).unlink(missing_ok=True)
    return lines.count


def _write_images(storage: Storage, folder: Path, lines: Lines) -> None:
    """The journal before the first file, and the last file before anything is removed."""

    def files() -> Iterator[FileOfFolder]:
        return files_by_name(storage, folder / MANIFEST, folder / JOURNAL, lines)

    if any(each.wanted and each.wanted not in each.done for each in files()):
        storage.write_file(folder / JOURNAL, _filled(_journal(files())))
    for each in files():
        path = folder / each.name
        if each.wanted and not _is_there(storage, path, each, lines):
            storage.write_file(path, _filled(blocks_of(storage, lines.at(each.line_at))))
    for each in files():
        path = folder / each.name
        if not each.wanted and path.is_file() and _digest(storage, path) in each.ours:
            path.unlink(missing_ok=True)


def _journal(files: Iterator[FileOfFolder]) -> Iterator[bytes]:
    for each in files:
        for digest in sorted(each.ours):
            yield msgspec.json.encode(NamedFile(each.name, digest)) + b"\n"


def _table(columns: tuple[str, ...], lines: Lines) -> Iterator[bytes]:
    yield csv_line(columns)
    yield from (csv_line(line.get(name) for name in columns) for line in lines)


def _metadata(lines: Lines) -> Iterator[bytes]:
    """`text` is the caption or title. Columns that were saved from a list are fields of their own, ours win."""
    for line in lines:
        saved = line["columns"] or {}
        ours = {name: line[name] for name in METADATA_COLUMNS}
        yield msgspec.json.encode({**saved, FILE_NAME: line["file"], "text": line["title"], **ours}) + b"\n"


def _filled(blocks: Iterator[bytes]) -> Callable[[BinaryIO], None]:
    def write(file: BinaryIO) -> None:
        file.writelines(blocks)

    return write


def _is_there(storage: Storage, path: Path, file: FileOfFolder, lines: Lines) -> bool:
    """Whether a file needs not be written. One that the manifest knows is not read again."""
    if not path.exists():
        return False
    if file.wanted in file.done and path.is_file() and path.stat().st_size == lines.at(file.line_at)["bytes"]:
        return True
    digest = _digest(storage, path) if path.is_file() else ""
    if digest not in file.ours:
        why = "has been changed since it was exported" if file.done else "is there already, and no export wrote it"
        raise BadParams(f"{path} {why}", hint="move it away, or -o another-folder/")
    return bool(digest == file.wanted)


def _digest(storage: Storage, path: Path) -> str:
    digest = sha256()
    with storage.opened(path) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
