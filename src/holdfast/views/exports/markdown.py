"""Markdown: a folder with one file per page and an index of them, or all pages one after another on stdout.

The folder is brought up to date: files of pages that did not change are not touched, files of pages that are gone are
removed, and nothing that an earlier export did not write is touched at all. Each file appears whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from holdfast.engine.duplicates import DUPLICATE, Content
from holdfast.engine.near_duplicates import NEAR_DUPLICATE
from holdfast.errors import BadParams
from holdfast.model.derived import MARKDOWN
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.ports.storage import PageFolder
from holdfast.recipe.kind import Kind
from holdfast.views.exports.file_names import file_name, folded, is_ours, plainest
from holdfast.views.exports.form import Asked, Write
from holdfast.views.exports.form_row import FOLDER, Form
from holdfast.views.exports.front_matter import START, page_file
from holdfast.views.results import FETCHED_AT, Results

FORM = Form(name="md", ending=FOLDER, place=10, title="Markdown", noun="page")

INDEX = "index.jsonl"
LINE_BYTES_MAX = 1_000_000
INDEX_FIELDS = ("url", "title", "depth", "status_code", FETCHED_AT, "content_type", "sha256", "flags")
MARKS = (DUPLICATE, NEAR_DUPLICATE)


class _IndexLine(msgspec.Struct):
    """What a line of an index has, whichever version wrote it."""

    file: str | None
    url: str
    sha256: str | None


def check_folder(storage: Storage, path: Path) -> None:
    """BadParams where there is an index that no export wrote: it is written anew by each, and so would be lost."""
    line = b""
    if (path / INDEX).is_file():
        with storage.opened(path / INDEX) as lines:
            line = lines.readline(LINE_BYTES_MAX)
    try:
        if line:
            msgspec.json.decode(line, type=_IndexLine)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadParams(
            f"{path / INDEX} is there already, and no export wrote it", hint="move it away, or -o another-folder/"
        ) from None


def write_into(asked: Asked, path: Path) -> int:
    """Bring the folder up to date; how many files there are."""
    check(asked.results)
    check_folder(asked.storage, path)
    folder = asked.storage.folder(path, is_ours=is_ours, start=START.encode())
    try:
        return write_folder(asked.results, folder)
    finally:
        folder.close()


def write_folder(results: Results, folder: PageFolder) -> int:
    """One file per page, pages that are the same one file; answers how many pages."""
    check(results)
    home = _home(results)
    seconds = _seconds(results, home)
    second = next(seconds, None)
    written = 0
    for row, page in results.with_objects():
        place = _place(results, (b"", row.target, row.url))
        while second is not None and _place(results, second) < place:
            second = next(seconds, None)
        is_second = second is not None and second[1] == row.target
        name = None
        if page["markdown"] is not None:
            name = second[0].decode() if second and is_second else ""
            if not name:
                name = file_name(row.url, home, with_hash=is_second)
                folder.put(name, page_file(page))
            written += 1
        index = {"file": name, **{field: page[field] for field in INDEX_FIELDS}}
        marked = {mark: page[mark] for mark in MARKS if mark in page}
        folder.list(msgspec.json.encode(index | marked) + b"\n")
    folder.finish()
    return written


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    """The same files one after another; each begins with its front matter."""
    check(asked.results)
    written = 0
    for page in asked.results.objects(rows):
        if page["markdown"] is not None:
            out(page_file(page) + b"\n")
            written += 1
    return written


def check(results: Results) -> None:
    """BadParams where these results cannot be Markdown."""
    check_early(results.kind, None)
    if results.fields.only is not None or any(name not in MARKS for name in results.fields.plus):
        raise BadParams("a Markdown file holds a whole page: --fields is for jsonl and csv")


def check_early(kind: Kind, path: Path | None) -> None:
    if MARKDOWN not in (kind.columns or ()):
        raise BadParams(
            "Markdown is made of the pages of a site; records go to jsonl or csv",
            hint="holdfast export JOB -o FILE.jsonl --fields +markdown, for records with their pages",
        )


def _home(results: Results) -> str:
    """The host whose pages lie at the top of the folder: that of the first seed."""
    seeds = results.job.params.get("seeds") or [""]
    try:
        return urlsplit(str(seeds[0])).netloc
    except ValueError:
        return ""


def _place(results: Results, content: Content) -> Any:
    """Where a target comes in the order of these results."""
    return content[2] if results.by_url else content[1]


def _seconds(results: Results, home: str) -> Iterator[Content]:
    """The targets, in the order of the results, whose plain name a plainer URL has: `/a.html` beside `/a`. In place of
    a hash: the file of the first, where both are the same page, such as `/` and `/index.html`."""

    def names() -> Iterator[Content]:
        for row in results.rows():
            name = folded(file_name(row.url, home)).encode("utf-8", "replace")
            yield b"\0".join((name, row.sha256, row.media.encode())), row.target, row.url

    def seconds(named: Iterable[Content]) -> Iterator[Content]:
        first: Content | None = None
        for each in named:
            if first is None or _name(first) != _name(each):
                first = each
            else:
                yield file_name(first[2], home).encode() if _is_same(first, each) else b"", each[1], each[2]

    in_order = results.in_order
    by_name = in_order(names(), lambda content: (_name(content), plainest(content[2])))
    return in_order(seconds(by_name), lambda content: _place(results, content))


def _name(content: Content) -> bytes:
    return content[0].partition(b"\0")[0]


def _is_same(one: Content, other: Content) -> bool:
    """Whether both are the same bytes read in the same way, their links too: those are relative to the folder."""
    return one[0] == other[0] and one[2].rpartition("/")[0] == other[2].rpartition("/")[0]
