"""The bytes of a list as a table: encoding, delimiter and quoting are found out, never asked for.

Lists come from office programs and content systems: with and without byte order mark, in UTF-8, UTF-16 or the Western
Windows code page, separated by commas, semicolons, tabs or bars. Nothing here knows what the columns mean.
"""

from __future__ import annotations

import codecs
import re

import msgspec

LIST_BYTES_MAX = 50_000_000
ROWS_MAX = 1_000_000
CELL_CHARS_MAX = 131_072
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_MARKUP = re.compile(r"\s*<(?:!doctype\s+html|html|head|body|script|title|div|p|h1|\?xml)\b", re.IGNORECASE)


class ListRefused(ValueError):
    """These bytes cannot be used as a list; the message says why. Nothing is taken from such a list."""


class TableRow(msgspec.Struct, frozen=True):
    """`line` is where the row ends in the file, as an editor counts; cells are by the header's own names."""

    line: int
    cells: dict[str, str]


def decoded(body: bytes) -> tuple[str, str]:
    """(text, encoding). A byte order mark decides; without one it is UTF-8, else the Western Windows code page."""
    if len(body) > LIST_BYTES_MAX:
        raise ListRefused(f"the list is larger than {LIST_BYTES_MAX:,} bytes")
    if not body.strip():
        raise ListRefused("the list is empty")
    text, encoding = _decoded(body)
    if _MARKUP.match(text):
        raise ListRefused("the answer is an HTML or XML page, not a CSV list")
    if "\0" in text:
        raise ListRefused("the list has NUL characters in it: it is not text")
    return text, encoding


def _decoded(body: bytes) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            try:
                return body[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise ListRefused(f"the list says {encoding} and is not: byte {error.start}") from None
    for encoding in ("utf-8", "cp1252"):
        try:
            return body.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise ListRefused("the list is neither UTF-8 nor Windows-1252 text")


def header_of(cells: list[str]) -> tuple[str, ...]:
    """Every column has a name of its own: a second `Date` is `Date 2`, a nameless third column `column 3`."""
    names: list[str] = []
    for place, cell in enumerate(cells, start=1):
        name = base = " ".join(cell.replace("\ufeff", "").split()) or f"column {place}"
        again = 1
        while name in names:
            again += 1
            name = f"{base} {again}"
        names.append(name)
    return tuple(names)


def row_by_name(header: tuple[str, ...], cells: list[str], delimiter: str) -> dict[str, str]:
    if len(cells) > len(header):
        last = len(header) - 1
        cells = [*cells[:last], delimiter.join(cells[last:]).rstrip(delimiter)]
    padded = [*cells, *[""] * (len(header) - len(cells))]
    if any(len(cell) > CELL_CHARS_MAX for cell in padded):
        raise ListRefused(f"a cell has more than {CELL_CHARS_MAX:,} characters")
    return dict(zip(header, padded, strict=True))
