"""Dates as lists write them, in one form: `YYYY-MM-DD`. What cannot be read stays as it was, and is said (DOC-08)."""

from __future__ import annotations

import re
from datetime import date

YEAR_MIN, YEAR_MAX = 1800, 2199
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_YEAR_FIRST = re.compile(r"(\d{4})[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ](\d{1,2})(?:[T ]\d{1,2}:\d{2}.{0,20})?", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[-/. ](\d{1,2}|[A-Za-z]{3,9})\.?,?[-/. ](\d{4})", re.ASCII)
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", re.ASCII)


def read_date(text: str) -> str | None:
    """`2025-03-14` for any of the known spellings of that day, else None. `03/04/2025` is the 3rd of April."""
    plain = " ".join(text.replace("\u00a0", " ").split())
    if found := _YEAR_FIRST.fullmatch(plain):
        return _day(found[1], found[2], found[3])
    if found := _DAY_FIRST.fullmatch(plain):
        return _day(found[3], found[2], found[1])
    if found := _MONTH_FIRST.fullmatch(plain):
        return _day(found[3], found[1], found[2])
    return None


def _day(year: str, month: str, day: str) -> str | None:
    number = int(month) if month.isdigit() else _month(month.lower())
    if not YEAR_MIN <= int(year) <= YEAR_MAX:
        return None
    try:
        return date(int(year), number, int(day)).isoformat()
    except ValueError:
        return None


def _month(name: str) -> int:
    """1 to 12 for a name, short or in full; 0, which is in no year, for anything else."""
    if name in _NAMES:
        return _NAMES.index(name) + 1
    return _MONTHS.index(name) + 1 if name in _MONTHS else _MONTHS.index("sep") + 1 if name == "sept" else 0
