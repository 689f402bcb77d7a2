"""The engine `list`: candidates out of a file of (keyword, url, …), or of URLs alone, read row by row (IMG-11).

A row that cannot be used is given as such, with its number and the reason; it never ends the reading and is never left
out in silence. Nothing is kept in memory but the row at hand (Parquet: one batch of rows).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from hashlib import file_digest
from itertools import islice
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.spelling import install
from holdfast.recipes.delimiters import delimiter_of, header_cells
from holdfast.recipes.images.engines.answer import Candidate, usable_url
from holdfast.recipes.images.plan import normal_keyword

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt")
LINE_CHARACTERS_MAX = 1_000_000
HEADER_CHARACTERS = 20_000  # in which the delimiter is looked for
PARQUET_ROWS = 1_000
SAVED_COLUMNS_MAX = 50
HINT = "--columns url=Link,keyword=Class"
CELL_CHARACTERS_MAX = 2_000
INTEGERS = range(-(1 << 63), 1 << 64)  # as large as exports can sort; larger ones are text
Cell = str | int | float | bool | None
Names = Mapping[str, tuple[str, ...]]  # of columns, by field
# Column names in use for the same thing, by other tools too.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "url": ("url", "image_url", "image", "URL"),
    "keyword": ("keyword", "label", "class", "query"),
    "source_page": ("source_page", "page", "page_url"),
    "thumbnail": ("thumbnail", "thumbnail_url"),
    "title": ("title", "caption", "TEXT", "text"),
    "width": ("width", "WIDTH"),
    "height": ("height", "HEIGHT"),
}
URLS_LOOKED_AT = 20
FIELDS = (*_COLUMNS, "caption")  # what may be written before the `=` in --columns; a caption is the title


class ListRow(msgspec.Struct, frozen=True):
    """One row. `number` counts rows from 0 and is the candidate's rank; `why` says what is wrong with a bad one.

    `columns` are the cells that are to be kept with the image.
    """

    number: int
    keyword: str
    candidate: Candidate | None
    why: str = ""
    columns: Mapping[str, Cell] = msgspec.field(default_factory=dict)


def read_list(
    path: Path,
    *,
    keyword: str = "",
    start: int = 0,
    save: Sequence[str] = (),
    columns: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[ListRow]:
    """Rows from `start` on. `keyword` is used for a file without such a column; columns of `save` come along.

    `columns` says which column is what; fields that it does not name are known by their usual names. BadParams where
    the file cannot be read at all: missing, of unknown suffix, without a column for the URL or one that was named.
    """
    names = _names(columns)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadParams(f"{path.name} is not a list of images: its name ends with one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise BadParams(f"there is no file {path}")
    read = {".parquet": _parquet, ".jsonl": _jsonl, ".ndjson": _jsonl, ".txt": _text}.get(suffix, _csv)
    for number, row in enumerate(read(path, names, (*columns.values(), *save))):
        if number >= start:
            yield _row(number, row, names, keyword, save)


def first_urls(given: Mapping[str, Any]) -> list[str]:
    """Of a job's list: what is looked at before the job is made."""
    path = Path(given["path"])
    rows = read_list(path, keyword=path.stem, columns=given.get("mapping", {}))
    return list(islice((row.candidate.url for row in rows if row.candidate is not None), URLS_LOOKED_AT))


def digest_of(path: Path) -> str:
    """By which a list is known again: a job is planned from the very list that it was begun with."""
    if not path.is_file():  # a device or a pipe may never end
        raise BadParams(f"the list {path} cannot be read: there is no such file")
    try:
        with path.open(mode="rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadParams(f"the list {path} cannot be read: {error.strerror}") from None


def _names(columns: Mapping[str, str]) -> Names:
    """The names that each field may have. A column that was named for one field is not taken for another one, too."""
    asked = {"title" if field == "caption" else field: name for field, name in columns.items()}
    taken = set(asked.values())
    return {
        field: (asked[field],) if field in asked else tuple(name for name in usual if name not in taken)
        for field, usual in _COLUMNS.items()
    }


def _row(number: int, row: Mapping[str, Any] | str, names: Names, keyword: str, save: Sequence[str]) -> ListRow:
    if isinstance(row, str):
        return ListRow(number, "", None, row)
    found = {name: _first(row, columns) for name, columns in names.items()}
    try:
        named = normal_keyword(str(found["keyword"] or keyword))
    except BadParams as error:
        return ListRow(number, "", None, error.message)
    url = usable_url(str(found["url"] or "").strip())
    if not url:
        return ListRow(number, named, None, _unusable(str(found["url"] or "").strip()))
    return ListRow(number, named, _candidate(url, number, found), columns={name: _cell(row.get(name)) for name in save})


def _unusable(cell: str) -> str:
    if not cell:
        return "no URL: the cell is empty"
    if cell.lower().startswith(("http://", "https://")) and len(cell.split()) > 1:
        return f"a URL has no spaces, write %20: {cell[:80]!r}"
    return f"no http(s) URL: {cell[:80]!r}"


def _candidate(url: str, number: int, found: Mapping[str, Any]) -> Candidate:
    return Candidate(
        url=url,
        rank=number,
        source_page=usable_url(found["source_page"]),
        thumbnail=usable_url(found["thumbnail"]),
        width=_side(found["width"]),
        height=_side(found["height"]),
        title=_storable(str(found["title"] or ""))[:500],
    )


def _cell(value: object) -> Cell:
    """As JSON knows it; lists and objects are written as JSON, what it does not know as text, and text has a limit."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and value in INTEGERS):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (list, dict)) else str(value)
    return _storable(text)[:CELL_CHARACTERS_MAX]


def _storable(text: str) -> str:
    """Half of a surrogate pair, which JSON lets pass, is a letter in no encoding."""
    return text.encode("utf-8", "replace").decode()


def _side(value: object) -> int | None:
    """Tables of floats and of text have sizes too."""
    try:
        side = int(float(str(value)))
    except (ValueError, OverflowError):
        return None
    return side if 0 < side < 10_000_000 else None


def _first(row: Mapping[str, Any], columns: tuple[str, ...]) -> Any:
    return next((row[name] for name in columns if row.get(name) not in (None, "")), None)


def _csv(path: Path, names: Names, wanted: Sequence[str]) -> Iterator[Mapping[str, Any] | str]:
    # utf-8-sig: spreadsheets write a byte order mark, which would else be part of the first column's name.
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        delimiter = _delimiter(path, lines.read(HEADER_CHARACTERS).replace("\0", ""), names)
        lines.seek(0)
        clean = (line.replace("\0", "") for line in lines)
        reader = csv.DictReader(clean, delimiter=delimiter, restkey="")
        _check_columns(path, reader.fieldnames or (), names, wanted)
        while True:
            try:
                yield next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield f"no row of CSV: {error}"


def _delimiter(path: Path, start: str, names: Names) -> str:
    """Found out where commas give no column for the URL: what commas read is read the same in every version."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    return "," if set(names["url"]) & set(header_cells(start, ",")) else delimiter_of(start)


def _jsonl(path: Path, _names: Names, _wanted: Sequence[str]) -> Iterator[Mapping[str, Any] | str]:
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        while line := lines.readline(LINE_CHARACTERS_MAX):
            if len(line) == LINE_CHARACTERS_MAX and not line.endswith("\n"):
                while (rest := lines.readline(LINE_CHARACTERS_MAX)) and not rest.endswith("\n"):
                    pass
                yield f"a line of more than {LINE_CHARACTERS_MAX} characters"
            elif line.strip():
                yield _json_row(line)


def _text(path: Path, _names: Names, wanted: Sequence[str]) -> Iterator[Mapping[str, Any] | str]:
    if wanted:
        raise BadParams(f"{path.name} has a URL per line and no columns, so there is no column {wanted[0]!r}")
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        while line := lines.readline(LINE_CHARACTERS_MAX):
            if line.strip():
                yield {"url": line.strip()}


def _json_row(line: str) -> Mapping[str, Any] | str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return f"no JSON: {line[:80]!r}"
    return row if isinstance(row, dict) else f"no object: {line[:80]!r}"


def _parquet(path: Path, names: Names, wanted: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise BadParams("Parquet needs pyarrow", hint=f"{install('parquet')}, or use CSV or JSONL") from None
    try:
        file = ParquetFile(path)
    except ArrowInvalid as error:
        raise BadParams(f"{path.name} is not a Parquet file: {error}") from None
    with file:
        header = file.schema_arrow.names
        _check_columns(path, header, names, wanted)
        known = [name for columns in names.values() for name in columns if name in header]
        for batch in file.iter_batches(PARQUET_ROWS, columns=list(dict.fromkeys((*known, *wanted)))):
            yield from batch.to_pylist()


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


def _check_columns(path: Path, header: Sequence[str], names: Names, wanted: Sequence[str]) -> None:
    if not header:
        raise BadParams(f"{path.name} is empty: it has no column {' or '.join(names['url'])}", hint=HINT)
    told = f"it has: {_printable(', '.join(header))}"
    for name in wanted:
        if name not in header:
            near = get_close_matches(name, header, n=1)
            use = "" if (name,) in names.values() else " to save"
            hint = f"did you mean {near[0]!r}?" if near else ""
            raise BadParams(f"{path.name} has no column {name!r}{use}; {told}", hint=hint)
    if not set(names["url"]) & set(header):
        raise BadParams(f"{path.name} has no column {' or '.join(names['url'])}; {told}", hint=HINT)
