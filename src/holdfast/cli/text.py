"""Text for terminals: nothing that was crawled may steer the screen. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.model.spelling import parts_of as parts_of

COLUMN_GAP = "  "
# Inside JSON these can only stand within strings; terminals obey some of them, and JSON may spell them out.
_ESCAPED = {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029)}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """The text in one line, without control characters and without those that turn the writing direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text.replace("\n", " ").replace("\t", " ") if not _steers(char))


def _steers(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _BIDI


def clean_lines(text: str) -> str:
    """The same for a text of several lines of our own."""
    return "\n".join(clean(line) for line in text.split("\n"))


def count_of(number: int, noun: str) -> str:
    """`1 page`, `8 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last one runs free."""
    cells = [[clean(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    lines = (COLUMN_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def to_json(value: Any) -> str:
    """One line of JSON that cannot steer a terminal either."""
    return msgspec.json.encode(value).decode().translate(_ESCAPED)
