"""Results with their files: one zip archive, or a folder that fills up from run to run. Beside the files stand the
results as CSV and JSON lines, and an audit of what is there, what failed and what is missing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from holdfast.errors import BadParams
from holdfast.model.artifact import ArtifactRow
from holdfast.model.target import PageRow, TargetRow
from holdfast.ports import Storage, Views
from holdfast.recipe.kind import Kind
from holdfast.views.exports import csv, jsonl
from holdfast.views.exports.folder_owner import is_marked, mark_folder
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import FOLDER, Form
from holdfast.views.results import Results

FORM = Form(name="files", ending=FOLDER, place=90, title="a folder of files")

ROWS_AT_ONCE = 500
ROWS_PER_RUN = 10_000
BLOCK_BYTES = 1024 * 1024
AUDIT = "audit.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member: the same content gives the same bytes


class FileExport(msgspec.Struct, frozen=True):
    """What both forms need."""

    storage: Storage
    results: Results

    @property
    def ledger(self) -> Views:
        return self.results.views

    def artifacts(self) -> Iterator[ArtifactRow]:
        """The files of the results that are exported, by path, each once: equal bytes may be one file of several."""
        last = ""
        for row in self.storage.in_order(
            self._of_results(),
            kind=ArtifactRow,
            key=lambda row: (row.path, row.target, row.n),
            rows_per_run=ROWS_PER_RUN,
        ):
            if row.path != last:
                yield row
            last = row.path

    def _of_results(self) -> Iterator[ArtifactRow]:
        """Those of all targets, or where results are filtered of theirs; by target."""
        if not self.results.where:
            yield from self._by_target()
            return
        targets = self.storage.in_order((row.target for row in self.results.rows()), kind=int, key=int)
        target = next(targets, None)
        for row in self._by_target():
            while target is not None and target < row.target:
                target = next(targets, None)
            if target == row.target:
                yield row

    def _by_target(self) -> Iterator[ArtifactRow]:
        after = (0, -1)
        while rows := self.ledger.artifacts(self.results.job.id, after=after, limit=ROWS_AT_ONCE):
            yield from rows
            after = (rows[-1].target, rows[-1].n)

    def tables(self) -> Iterator[tuple[str, Callable[[Write], int]]]:
        """Their paths lead to the files beside them."""
        table, lines, _ = names_beside(self.results.kind)
        asked = Asked(replace(self.results, beside_files=True), self.storage)
        yield table, lambda write: csv.write(asked, write)
        yield lines, lambda write: jsonl.write(asked, write)

    def audit(self, write: Write) -> None:
        """The books, what failed by code, and every failed target with its last word, one by one."""
        job, counts, _ = self.ledger.books(self.results.job.id)
        document = {
            "schema": "holdfast.audit/1", "job": job.uid, "name": job.name, "kind": job.recipe, "status": job.status,
            "run": f"R-{job.run}", "health": job.health, "counts": counts.seven(), "failed_by": counts.failed_by,
            "skipped_by": counts.skipped_by, "params": job.params,
        }  # fmt: skip
        write(msgspec.json.format(msgspec.json.encode(document), indent=1).removesuffix(b"\n}") + b',\n "failed": [')
        between = b""
        for row in self._failed():
            said = {"key": row.name or row.url, "url": row.url, "code": row.code, "because": row.because}
            lines = msgspec.json.format(msgspec.json.encode(said), indent=1)
            write(between + b"\n  " + lines.replace(b"\n", b"\n  "))  # text may have line ends of other kinds
            between = b","
        write(b"\n ]\n}\n" if between else b"]\n}\n")

    def _failed(self) -> Iterator[TargetRow]:
        after, where = 0, [("status", True, ("failed",))]
        while rows := self.ledger.targets(self.results.job.id, where=where, after=after, limit=ROWS_AT_ONCE):
            yield from rows
            after = rows[-1].id


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    """One archive."""
    if rows is not None:
        raise BadParams("an archive is written as a whole and cannot be followed: --follow is for jsonl and csv")
    return write_zip(FileExport(asked.storage, asked.results), out)


def write_into(asked: Asked, path: Path) -> int:
    """A folder, brought up to date."""
    check_early(asked.results.kind, path)
    path.mkdir(exist_ok=True)
    mark_folder(asked.storage, asked.results.job, path)
    return write_folder(FileExport(asked.storage, asked.results), path)


def check_early(kind: Kind, path: Path | None) -> None:
    """Tables are written anew by every export, so those of a folder without our mark are somebody's own."""
    if path is None or is_marked(path):
        return
    for name in names_beside(kind):
        if (path / name).exists():
            raise BadParams(f"{path / name} is there already, and no export wrote it", hint="-o another-folder/")


def names_beside(kind: Kind) -> tuple[str, str, str]:
    return f"{kind.noun}s.csv", f"{kind.noun}s.jsonl", AUDIT


def write_zip(export: FileExport, write: Write) -> int:
    """One archive, written as it is made: its size is not bounded by memory. Files are stored as they are."""
    out = _Stream(write)
    count = 0
    with zipfile.ZipFile(out, "w") as archive:  # type: ignore[call-overload]
        for row in export.artifacts():
            with archive.open(_member(row.path, zipfile.ZIP_STORED), "w", force_zip64=row.size > 1 << 30) as to:
                for block in export.storage.files.blocks(row.path, row.size):
                    to.write(block)
        for name, table in export.tables():
            with archive.open(_member(name, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as to:
                count = table(to.write)
        with archive.open(_member(AUDIT, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as to:
            export.audit(to.write)
    return count


def write_folder(export: FileExport, folder: Path) -> int:
    """The same, as files. One that is there already is left: no file's name ever gets other bytes. Where it has other
    bytes it is somebody's own, and refused."""
    export.storage.write_files(_missing(export, folder), folder)
    count = 0
    for name, table in export.tables():
        written: list[int] = []
        export.storage.write_file(folder / name, lambda file, t=table, n=written: n.append(t(file.write)))  # type: ignore[misc]
        count = written[0]
    export.storage.write_file(folder / AUDIT, lambda file: export.audit(file.write))
    return count


def _missing(export: FileExport, folder: Path) -> Iterator[tuple[Path, Callable[[BinaryIO], object]]]:
    for row in export.artifacts():
        path = folder / row.path
        if not path.exists():
            yield path, partial(_copy, export.storage, row)
        elif not _has(export.storage, path, row):
            raise BadParams(
                f"{path} is there already, and is not the file of this job", hint="move it away, or -o another-folder/"
            )


def _has(storage: Storage, path: Path, row: ArtifactRow) -> bool:
    """Its bytes are only read where there are as many as there should be."""
    if not path.is_file() or path.stat().st_size != row.size:
        return False
    digest = sha256()
    with storage.opened(path) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.digest() == row.sha256


def _copy(storage: Storage, row: ArtifactRow, file: BinaryIO) -> None:
    file.writelines(storage.files.blocks(row.path, row.size))


def _member(name: str, how: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.compress_type = how
    member.external_attr = 0o644 << 16
    return member


class _Stream:
    """A file that is only written to, for `zipfile`."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def write(self, content: bytes) -> int:
        self._write(content)
        return len(content)

    def flush(self) -> None:
        """The owner of `write` flushes."""
