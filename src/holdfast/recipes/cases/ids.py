"""Case numbers and ranges of them: `IMM-231-25`, `IMM-1-25..IMM-5000-25`, `IMM-*-25`. Order is numeric, never text.

A range without an end is written `IMM-1-25..IMM-*-25`; `IMM-*-25` is the one that begins at 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from holdfast.errors import BadParams

NUMBER_MAX = 99_999
SAFE_STOP_MAX = 10_000  # misses in a row that may be asked for as the proof of an end
_ID = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-(0|[1-9][0-9]{0,8})-([0-9]{2})")  # how large: _checked
_LOOSE = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-([0-9]++)-([0-9]{2})")
_OPEN = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-\*-([0-9]{2})")
_NUMBERED = re.compile(r"(.*)-([0-9]+)-([0-9]{2})")
_LIKE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,19}-(?:[0-9]++|\*)-[0-9]{1,4}")
HINT = "IMM-1-25..IMM-5000-25"


class Range(msgspec.Struct, frozen=True, order=True):
    """Numbers from `first` to `last`, both meant, within one prefix and year."""

    prefix: str
    year: str
    first: int
    last: int
    is_open: bool = False  # its end is to be found; `last` is the highest that there may be

    def __str__(self) -> str:
        if self.is_open:
            return f"{case_id(self.prefix, self.first, self.year)}..{self.prefix}-*-{self.year}"
        if self.first == self.last:
            return case_id(self.prefix, self.first, self.year)
        first, last = (case_id(self.prefix, number, self.year) for number in (self.first, self.last))
        return f"{first}..{last}"

    def __len__(self) -> int:
        return self.last - self.first + 1


def case_id(prefix: str, number: int, year: str) -> str:
    return f"{prefix}-{number}-{year}"


def case_parts(case: str) -> tuple[str, str, str]:
    """Prefix, number and year, as the id has them."""
    prefix, number, year = case.rsplit("-", 2)
    return prefix, number, year


def number_of(case: str) -> int:
    return int(case_parts(case)[1])


def place_of(name: str) -> tuple[str, str, int]:
    """Where a case stands among others, as ranges are planned: by prefix, year, number."""
    found = _NUMBERED.fullmatch(name)
    return (name, "", 0) if found is None else (found[1], found[3], int(found[2]))


def is_range(word: str) -> bool:
    """Whether a word looks like a range and not like the name of a job."""
    return ".." in word or _LIKE.fullmatch(word) is not None


def read_range(text: str, start: int | None = None, count: int | None = None) -> Range:
    """A range as typed; `PREFIX-*-YY` takes `count` numbers from `start` on, or as many as there turn out to be."""
    if unbounded := _OPEN.fullmatch(text):
        begin = 1 if start is None else start
        end = NUMBER_MAX if count is None else begin + count - 1
        return _checked(text, Range(unbounded[1].upper(), unbounded[2], begin, end, count is None))
    if start is not None or count is not None:
        raise BadParams(f"--start and --max-cases go with PREFIX-*-YY, not with {text}")
    first, dots, last = text.partition("..")
    prefix, low, year = _read_id(first)
    if unbounded := _OPEN.fullmatch(last):
        if (unbounded[1].upper(), unbounded[2]) != (prefix, year):
            raise BadParams(f"{text}: a range lies within one prefix and year", hint=HINT)
        return _checked(text, Range(prefix, year, low, NUMBER_MAX, is_open=True))
    high_prefix, high, high_year = _read_id(last) if dots else (prefix, low, year)
    if (prefix, year) != (high_prefix, high_year):
        raise BadParams(f"{text}: a range lies within one prefix and year", hint=HINT)
    return _checked(text, Range(prefix, year, low, high))


def _read_id(text: str) -> tuple[str, int, str]:
    found = _ID.fullmatch(text)
    if found:
        return found[1].upper(), int(found[2]), found[3]
    if (loose := _LOOSE.fullmatch(text)) and len(digits := loose[2].lstrip("0")) <= len(str(NUMBER_MAX)):
        meant = case_id(loose[1].upper(), int(digits or 0), loose[3])
        raise BadParams(f"{text}: a case number has no leading zeros", hint=meant)
    raise BadParams(f"{text!r} is not a case number; write PREFIX-NUMBER-YY with a year of two digits", hint=HINT)


def _checked(text: str, made: Range) -> Range:
    if not 0 <= made.first <= made.last <= NUMBER_MAX:
        raise BadParams(f"{text}: numbers go up from 0 to {NUMBER_MAX:,}, the first before the last", hint=HINT)
    return made


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The same numbers in ranges that neither touch nor overlap, in order: every number once."""
    found: list[Range] = []
    for each in sorted(ranges):
        before = found[-1] if found else None
        if before and (before.prefix, before.year) == (each.prefix, each.year) and each.first <= before.last + 1:
            found[-1] = Range(
                each.prefix, each.year, before.first, max(before.last, each.last), before.is_open or each.is_open
            )
        else:
            found.append(each)
    return found
