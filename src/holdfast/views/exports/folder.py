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
from typing import Any, BinaryIO

import msgspec

from holdfast.errors import BadParams
from holdfast.model.cells import csv_line
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.views.exports.folder_owner import MARK, is_left_over, is_marked, mark_folder
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.image_files import FileNames, blocks_of, images_in_order
from holdfast.views.results import Results

MANIFEST = "manifest.jsonl"
JOURNAL = ".manifest.jsonl.part"
TABLE = "manifest.csv"
METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # by which `imagefolder` knows the column
BLOCK_BYTES = 1024 * 1024
METADATA_COLUMNS = ("keyword", "url", "width", "height", "sha256")

Named = tuple[str, str]  # a file, and the hash of its content


class NamedFile(msgspec.Struct):
    """What a line of the manifest or the journal says of whose a file is."""

    file: str
    sha256: str


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
    done, begun = _named_in(folder / MANIFEST), _named_in(folder / JOURNAL)
    names = FileNames(results.job.params["keywords"])
    lines = [{"file": names.name(image), **image} for image in images_in_order(results, storage)]
    wanted = {(line["file"], line["sha256"]) for line in lines}
    ours = done | begun | wanted
    if wanted - done:
        storage.write_file(folder / JOURNAL, _filled(_journal(begun | wanted)))
    for line in lines:
        path, named = folder / line["file"], (line["file"], line["sha256"])
        if not _is_there(storage, path, line, known=named in done, ours=ours):
            storage.write_file(path, _filled(blocks_of(storage, line)))
    kept = {name for name, _ in wanted}
    for name in {name for name, _ in ours} - kept:
        if (folder / name).is_file() and (name, _digest(storage, folder / name)) in ours:
            (folder / name).unlink(missing_ok=True)
    columns = ("file", *results.columns())
    storage.write_file(folder / TABLE, _filled(_table(columns, lines)))
    storage.write_file(folder / METADATA, _filled(_metadata(lines)))
    storage.write_file(folder / MANIFEST, _filled(msgspec.json.encode(line) + b"\n" for line in lines))
    (folder / JOURNAL).unlink(missing_ok=True)
    return len(lines)


def _journal(named: set[Named]) -> Iterator[bytes]:
    return (msgspec.json.encode(NamedFile(name, digest)) + b"\n" for name, digest in sorted(named))


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


def _is_there(storage: Storage, path: Path, line: dict[str, Any], *, known: bool, ours: set[Named]) -> bool:
    """Whether a file needs not be written. One that the manifest knows is not read again."""
    if not path.exists():
        return False
    if known and path.is_file() and path.stat().st_size == line["bytes"]:
        return True
    digest = _digest(storage, path) if path.is_file() else ""
    if (line["file"], digest) not in ours:
        raise BadParams(f"{path} is there already, and no export wrote it", hint="move it away, or -o another-folder/")
    return bool(digest == line["sha256"])


def _digest(storage: Storage, path: Path) -> str:
    digest = sha256()
    with storage.opened(path) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _named_in(lines: Path) -> set[Named]:
    """Which files an earlier export wrote here, or was about to write, with their hashes: no others are ours."""
    try:
        rows = [msgspec.json.decode(line, type=NamedFile) for line in lines.read_bytes().splitlines()]
    except FileNotFoundError:
        return set()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadParams(
            f"{lines} cannot be read ({error}): which files an export wrote there is not known",
            hint="-o another-folder/",
        ) from None
    return {(row.file, row.sha256) for row in rows if _is_inside(row.file)}


def _is_inside(name: str) -> bool:
    return bool(name) and ".." not in Path(name).parts and not Path(name).is_absolute()
