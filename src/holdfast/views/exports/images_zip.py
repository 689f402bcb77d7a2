"""One ZIP file with a folder per keyword and the manifest. The same images give the same bytes."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterable
from typing import Any

import msgspec

from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.views.exports.folder import MANIFEST
from holdfast.views.exports.form import Asked, Write, refuse_stream
from holdfast.views.exports.image_files import FileNames, blocks_of, images_in_order, refuse_others
from holdfast.views.results import Results

DATED = (1980, 1, 1, 0, 0, 0)


class _Sink(io.RawIOBase):
    """Where a ZIP file goes that is written from its beginning to its end."""

    def __init__(self, write: Write) -> None:
        super().__init__()
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        taken = bytes(block)
        self._write(taken)
        return len(taken)


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    refuse_stream("a ZIP file", rows)
    refuse_others(asked.results.kind, "a ZIP file")
    return write_zip(asked.results, asked.storage, out)


def write_zip(results: Results, storage: Storage, write: Write) -> int:
    """Images are stored, not compressed again; how many."""
    names = FileNames(results.job.params["keywords"])
    written = 0
    with (
        storage.unnamed_file() as lines,
        zipfile.ZipFile(_Sink(write), "w", zipfile.ZIP_STORED) as archive,
    ):
        for image in images_in_order(results, storage):
            name = names.name(image)
            with archive.open(_entry(name), "w") as file:
                for block in blocks_of(storage, image):
                    file.write(block)
            lines.write(msgspec.json.encode({"file": name, **image}) + b"\n")
            written += 1
        lines.seek(0)
        with archive.open(_entry(MANIFEST), "w", force_zip64=True) as file:
            shutil.copyfileobj(lines, file)
    return written


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATED)
    entry.external_attr = 0o644 << 16
    return entry
