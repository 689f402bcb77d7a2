"""Text for terminals: nothing that was crawled may steer the screen. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import msgspec

from holdfast.model.spelling import parts_of as parts_of

COLUMN_GAP = "  "


HANGING = 4  # how far the rest of a folded line is moved in


_GAP = re.compile(r" {2,}")


_COMMAND = re.compile(r"\bholdfast [^;,()]*[^;,() ]")


_UNBROKEN = "\u00a0"


_PART = re.compile(r"( {2,}|)((?:[^ ]| (?! ))+)")


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


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their names."""
    return columns([head, *rows])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last one runs free."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    lines = (COLUMN_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def folded(text: str, width: int) -> str:
    """The text in lines that fit a terminal: broken between columns or parts, then between words, never in one.

    A command stays whole, longer than the line if it must be: half of it might be copied and run.
    """
    return "\n".join(line if len(line) <= width else _folded_line(line, width) for line in text.split("\n"))


def _folded_line(line: str, width: int) -> str:
    """A last column that begins early is folded below itself; else as many parts stand together as fit."""
    start = len(line) - len(line.lstrip())
    column = max((match.end() for match in _GAP.finditer(line)), default=start)
    if column == start or (column <= width // 2 and not _COMMAND.search(line, column)):
        return line[:column] + f"\n{' ' * column}".join(_pieces(line[column:], width - column))
    hanging = " " * (start + HANGING)
    lines = [line[:start]]
    for gap, part in _PART.findall(line[start:]):
        if len(lines[-1]) + len(gap) + len(part) <= width:
            lines[-1] += gap + part
        else:
            lines += [hanging + piece for piece in _pieces(part, width - len(hanging))]
    return "\n".join(line for line in lines if line.strip())


def _pieces(part: str, width: int) -> list[str]:
    """What fits a line each; a command counts as one word."""
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", _UNBROKEN), part)
    lines = wrap(whole, max(20, width), break_long_words=False, break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def to_json(value: Any) -> str:
    """One line of JSON that cannot steer a terminal either."""
    return msgspec.json.encode(value).decode().translate(_ESCAPED)
