"""A stored list, read row by row from its file: a list of a million rows costs no more memory than one of ten.

What the rows mean is decided in lists.py and columns.py; this module only keeps them from being in memory at once.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.spelling import count_of
from holdfast.recipes.delimiters import delimiter_of
from holdfast.recipes.documents.columns import match_columns
from holdfast.recipes.documents.digests import HASHES, Digests
from holdfast.recipes.documents.lists import Entry, Naming, cells_by_name, entry_of, is_criminal
from holdfast.recipes.documents.skipping import Condition, check_filter, is_skipped, read_filter
from holdfast.recipes.documents.table import (
    LIST_BYTES_MAX,
    ROWS_MAX,
    ListRefused,
    TableRow,
    decoded,
    header_of,
    row_by_name,
)

_LOOKED_AT_BYTES = 262_144
_ROWS_GUESSED_BY = 50
_LINES_TOLD = 5
REPEATED = "id came before"  # the row that has it first counts
_CELL_LINES_USUAL = 20


class ListShape(msgspec.Struct, frozen=True):
    """How a list is asked to be read: the params of a job that concern it."""

    columns: Mapping[str, str]
    skip_where: str = ""
    base_url: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> ListShape:
        where = str(params.get("list") or "")
        return cls(params.get("columns") or {}, params.get("skip_where") or "", where if "://" in where else "")


class ListFile(msgspec.Struct, frozen=True):
    """One list. `open` raises ListRefused for what is not a list, BadParams for a column that is missing."""

    path: Path
    header: tuple[str, ...]
    columns: Mapping[str, str]
    naming: Naming
    conditions: Sequence[Condition]
    encoding: str
    delimiter: str

    @classmethod
    def open(cls, path: Path, shape: ListShape) -> ListFile:
        encoding, start = _encoding_of(path)
        delimiter = delimiter_of(start)
        header = next((header_of(cells) for _, cells in _cells(path, encoding, delimiter)), ())
        if not header:
            raise ListRefused("the list is empty")
        matched = match_columns(header, shape.columns)
        if "token" not in shape.columns and "url" not in matched:
            matched = _with_addresses(matched, _sampled(path, encoding, delimiter, header))
        naming = Naming(matched, direct="url" in shape.columns or "token" not in matched, base_url=shape.base_url)
        conditions = read_filter(shape.skip_where)
        check_filter(conditions, [*header, *matched])
        found = cls(path, header, matched, naming, conditions, encoding, delimiter)
        if next(found.rows(), None) is None:
            raise ListRefused("the list has a header and no rows")
        naming.check(header)
        return found

    @property
    def is_direct(self) -> bool:
        """Whether its rows name their files; else a site is asked for them."""
        return self.naming.direct and "url" in self.columns

    def rows(self) -> Iterator[TableRow]:
        """Every row behind the header. Lines without a cell are passed over."""
        every = _cells(self.path, self.encoding, self.delimiter)
        next(every, None)
        for count, (line, cells) in enumerate(every):
            if count == ROWS_MAX:
                raise ListRefused(f"the list has more than {ROWS_MAX:,} rows")
            yield TableRow(line, row_by_name(self.header, cells, self.delimiter))

    def is_skipped(self, row: TableRow) -> bool:
        return bool(self.conditions) and is_skipped(cells_by_name(row, self.columns), self.conditions)

    def named(self) -> Iterator[tuple[TableRow, tuple[str, str, str] | None]]:
        """(row, (key, token, url)) of each document, in order; None beside a row that names none. Skipped rows are
        left out, and so is nothing else: a key may come twice."""
        for row in self.rows():
            if not self.is_skipped(row):
                for named in self.named_in(row):
                    yield row, named

    def named_in(self, row: TableRow) -> tuple[tuple[str, str, str] | None, ...]:
        return tuple(self.naming.documents(row)) or (None,)

    def entries(self) -> Iterator[Entry]:
        """Every document in order; a key may come twice, and the first of them counts."""
        for row, named in self.named():
            if named is not None:
                yield self.entry(row, named)

    def entry(self, row: TableRow, named: tuple[str, str, str]) -> Entry:
        """Rows that name their files are never criminal ones: only a court's list is known to say that so."""
        return entry_of(row, self.columns, named, _never if self.is_direct else is_criminal)


def _sampled(path: Path, encoding: str, delimiter: str, header: tuple[str, ...]) -> dict[str, list[str]]:
    """The cells of each column that are not empty, in the first rows."""
    sample = [cells for (_, cells), _ in zip(_cells(path, encoding, delimiter), range(_ROWS_GUESSED_BY), strict=False)]
    rows = [row_by_name(header, cells, delimiter) for cells in sample[1:]]
    return {name: [row[name] for row in rows if row[name].strip()] for name in header}


def _with_addresses(matched: dict[str, str], sample: Mapping[str, list[str]]) -> dict[str, str]:
    """A column of addresses is one, though its name, such as `Download`, is that of a site's tokens. Where no header
    says what names the documents, it is the one column of addresses; BadParams where there are several."""
    token = matched.get("token")
    if token is not None:
        links = sum(map(_is_link, sample[token]))
        others = {field: name for field, name in matched.items() if field != "token"}
        return others | {"url": token} if 2 * links > len(sample[token]) else matched
    if {"id", "register_type"} & set(matched):
        return matched
    linked = [name for name, cells in sample.items() if cells and all(map(_is_link, cells))]
    if len(linked) > 1:
        named = " or ".join(f"url={name}" for name in linked)
        raise BadParams(f"several columns of the list have addresses: {', '.join(linked)}", hint=f"--columns {named}")
    partly = [(name, sum(map(_is_link, cells)), len(cells)) for name, cells in sample.items()]
    some = [each for each in partly if each[1]]
    if not linked and some:
        said = "; ".join(f"{name!r} has addresses in {count} of its first {of} cells" for name, count, of in some)
        named = " or ".join(f"'url={name}'" for name, _, _ in some)
        raise BadParams(f"no column of the list is called Link or URL; {said}", hint=f"--columns {named}")
    return matched | {"url": linked[0]} if linked else matched


def _is_link(cell: str) -> bool:
    return cell.strip().lower().startswith(("http://", "https://"))


def _never(category: str) -> bool:
    return False


def _encoding_of(path: Path) -> tuple[str, str]:
    """(encoding, the beginning as text). Byte order mark, else UTF-8 where all of it is, else Windows-1252."""
    size = path.stat().st_size
    if size > LIST_BYTES_MAX:
        raise ListRefused(f"the list is larger than {LIST_BYTES_MAX:,} bytes")
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT_BYTES)
    cut = start if size <= len(start) else start[: start.rfind(b"\n") + 1] or start
    text, encoding = decoded(cut)
    if encoding == "utf-8" and not _is_utf8(path):
        encoding = "cp1252"
    return encoding, text


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while part := file.read(1_000_000):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _cells(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every line that has any; the header is the first."""
    with path.open(encoding=encoding, newline="", errors="replace" if encoding == "cp1252" else "strict") as file:
        if file.read(1) != "\ufeff":
            file.seek(0)
        reader = csv.reader(file, delimiter=delimiter)
        try:
            for cells in reader:
                if any(cell and not cell.isspace() for cell in cells):
                    yield reader.line_num, cells
        except csv.Error as error:
            raise ListRefused(f"line {reader.line_num} is not CSV: {error}") from None
        except UnicodeDecodeError as error:
            raise ListRefused(f"the list says {encoding} and is not: {error.reason}") from None


class LeftOut(msgspec.Struct, frozen=True):
    """Rows that are no document for one reason: how many, and the first lines."""

    count: int = 0
    lines: tuple[int, ...] = ()

    @property
    def said(self) -> str:
        told = f"{'line' if self.count == 1 else 'lines'} {', '.join(map(str, self.lines))}"
        return told if self.count == len(self.lines) else f"{count_of(self.count, 'row')} ({told} …)"

    def and_line(self, line: int) -> LeftOut:
        return LeftOut(self.count + 1, (*self.lines, line)[:_LINES_TOLD])


class Sounding(msgspec.Struct, frozen=True):
    """What a look through a whole list gave, without keeping any of it."""

    rows: int = 0  # but those that are skipped
    documents: int = 0  # distinct
    left: Mapping[str, LeftOut] = {}  # by the reason, but those that are skipped
    skipped: int = 0  # rows that a filter leaves out
    criminal: int = 0
    distinct_rows: int = 0
    header_again: bool = False
    tall: tuple[int, int] | None = None  # a line whose row has a cell of so many lines

    @property
    def left_out(self) -> str:
        """In words; empty where every row is a document."""
        said = [f"{reason}: {left.said}" for reason, left in self.left.items()]
        skipped = [f"--skip-where: {count_of(self.skipped, 'row')}"] if self.skipped else []
        return "; ".join([*said, *skipped])


def sound(listed: ListFile) -> Sounding:
    """Counts of a list. Of its keys and rows it remembers eight bytes each."""
    seen, row_hashes = Digests(), Digests()
    skipped = criminal = rows = 0
    left: dict[str, LeftOut] = {}
    again, tall = False, None
    criminal_at = "" if listed.is_direct else listed.columns.get("category", "")
    for row in listed.rows():
        if listed.is_skipped(row):
            skipped += 1
            continue
        rows += 1
        cells = tuple(row.cells.values())
        row_hashes.add(hash(cells) % HASHES)
        again = again or cells == listed.header
        tall = tall or _tall(row)
        for named in listed.named_in(row):
            if named is None or not seen.add(hash(named[0]) % HASHES):
                reason = REPEATED if named is not None else listed.naming.why_none(row)
                left[reason] = left.get(reason, LeftOut()).and_line(row.line)
                continue
            criminal += bool(criminal_at) and is_criminal(row.cells.get(criminal_at, ""))
    return Sounding(rows, len(seen), left, skipped, criminal, len(row_hashes), again, tall)


def _tall(row: TableRow) -> tuple[int, int] | None:
    """A quote that stands alone takes in the rows up to the next one."""
    height = 1 + max(cell.count("\n") for cell in row.cells.values())
    return (row.line, height) if height > _CELL_LINES_USUAL else None
