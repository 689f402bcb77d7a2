"""Case numbers and ranges of them: `IMM-231-25`, `IMM-1-25..IMM-5000-25`, `IMM-*-25`. Order is numeric, never text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.errors import BadParams

NUMBER_MAX = 999_999_999
_ID = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-(0|[1-9][0-9]{0,8})-([0-9]{2})")
_LOOSE = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-([0-9]++)-([0-9]{2})")
_OPEN = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-\*-([0-9]{2})")
HINT = "IMM-1-25..IMM-5000-25"


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Numbers from `first` to `last`, both meant, within one prefix and year."""

    prefix: str
    year: str
    first: int
    last: int

    def __str__(self) -> str:
        if self.first == self.last:
            return case_id(self.prefix, self.first, self.year)
        first, last = (case_id(self.prefix, number, self.year) for number in (self.first, self.last))
        return f"{first}..{last}"

    def __len__(self) -> int:
        return self.last - self.first + 1


def case_id(prefix: str, number: int, year: str) -> str:
    return f"{prefix}-{number}-{year}"


def is_range(word: str) -> bool:
    """Whether a word looks like a range and not like the name of a job."""
    return ".." in word or _LOOSE.fullmatch(word) is not None or _OPEN.fullmatch(word) is not None


def read_range(text: str, start: int | None = None, count: int | None = None) -> Range:
    """A range as typed; `PREFIX-*-YY` takes `count` numbers from `start` on."""
    if unbounded := _OPEN.fullmatch(text):
        if start is None or count is None:
            raise BadParams(f"{text} has no end", hint=f"{text} --start 1 --max-cases 5000")
        return _checked(text, Range(unbounded[1].upper(), unbounded[2], start, start + count - 1))
    if start is not None or count is not None:
        raise BadParams(f"--start and --max-cases go with PREFIX-*-YY, not with {text}")
    first, dots, last = text.partition("..")
    prefix, low, year = _read_id(first)
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
    raise BadParams(f"{text!r} is no case number; it is PREFIX-NUMBER-YY with a year of two digits", hint=HINT)


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
            found[-1] = Range(each.prefix, each.year, before.first, max(before.last, each.last))
        else:
            found.append(each)
    return found
