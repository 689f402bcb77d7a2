"""Values as cells of a CSV file (RFC 4180, UTF-8) that a spreadsheet shows and never executes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

# A spreadsheet takes a cell that begins so for a formula; crawled text must not become one.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"
END = "\r\n"
_QUOTED = frozenset(',"\r\n')


def csv_line(values: Iterable[Any]) -> bytes:
    """One line. Null is empty, a number stays a number, a list or an object is its JSON."""
    return (",".join(_quoted(cell(value)) for value in values) + END).encode("utf-8", "replace")


def cell(value: Any) -> str:
    """The text of one cell. Only text can be a formula: -5 is a number and stays one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return guarded(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def guarded(text: str) -> str:
    return GUARD + text if text.startswith(FORMULA_STARTS) else text


def _quoted(text: str) -> str:
    if _QUOTED.isdisjoint(text) and not text.startswith(" ") and not text.endswith(" "):
        return text
    return '"' + text.replace('"', '""') + '"'
