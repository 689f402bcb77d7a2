"""ZIP: the folder of Markdown files as one file, with its index and the report, where the job made one.

The same pages give the same bytes: entries carry no date, and none of the computer's settings.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from io import BufferedWriter
from typing import BinaryIO

from holdfast.errors import BadParams
from holdfast.model.derived import MARKDOWN
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.views.exports import files, markdown
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import Form
from holdfast.views.exports.parquet import AppendedFile
from holdfast.views.results import Results

FORM = Form(name="zip", ending=".zip", place=80, title="a ZIP file", is_text=False)

DATED = (1980, 1, 1, 0, 0, 0)
INDEX = "index.jsonl"
LEVEL = 6


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    """Pages of a site as Markdown, with their report; of other kinds the files that they have."""
    results = asked.results
    if MARKDOWN not in (results.kind.columns or ()):
        return files.write(asked, out, rows)
    return write_zip(results, asked.storage, out, rows, _report_files(asked))


def _report_files(asked: Asked) -> dict[str, bytes]:
    """The newest report that the job made; nothing where it made none."""
    if asked.ledger is None or not asked.results.kind.has_reports:
        return {}
    from holdfast.views.reports.versions import dated_report, newest_report, written

    report = newest_report(asked.ledger, asked.results.job)
    if report is None:
        return {}
    report = report if asked.dated_ms is None else dated_report(report, asked.dated_ms)
    return {f"report.{form}": written(report, form) for form in ("html", "json")}


def write_zip(
    results: Results,
    storage: Storage,
    write: Write,
    rows: Iterable[PageRow] | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> int:
    """One Markdown file per page; answers how many. `extra`: other files by their names."""
    if rows is not None:
        raise BadParams("a ZIP file is written as a whole and cannot be followed: --follow is for jsonl and csv")
    markdown.check(results)
    with zipfile.ZipFile(BufferedWriter(AppendedFile(write)), "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as file:
        folder = ZippedFolder(file, storage.unnamed_file())
        try:
            written = markdown.write_folder(results, folder)
            for name, content in sorted((extra or {}).items()):
                folder.put(name, content)
        finally:
            folder.close()
    return written


class ZippedFolder:
    """A `PageFolder` within a ZIP file. The index is the last of its pages."""

    def __init__(self, file: zipfile.ZipFile, index: BinaryIO) -> None:
        self._file, self._index = file, index

    def put(self, name: str, file: bytes) -> None:
        self._file.writestr(_entry(name), file)

    def list(self, line: bytes) -> None:
        self._index.write(line)

    def finish(self) -> None:
        self._index.seek(0)
        with self._file.open(_entry(INDEX), "w") as entry:
            while block := self._index.read(1 << 16):
                entry.write(block)

    def close(self) -> None:
        self._index.close()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATED)
    entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
    return entry
