"""Dates as pages write them, made ISO: a day, a month, or a year. Seven languages' months; no guess without a year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

YEARS = range(1700, 2101)
_MONTHS = (
    "january jan januar janvier janv enero gennaio januari janeiro",
    "february feb februar février févr fevrier febrero febbraio februari fevereiro",
    "march mar märz maerz mars marzo maart março",
    "april apr avril abril aprile",
    "may mai mayo maggio mei maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet juil julio luglio julho",
    "august aug août aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_MONTH = "(" + "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True)) + r")\.?"
_YEAR = r"((?:1[789]|20)\d\d)"
_NO_WORD = r"(?<![\w./-])"
_DAY_MONTH = re.compile(
    rf"{_NO_WORD}(\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:de\s+|of\s+)?{_MONTH},?\s+(?:de\s+)?{_YEAR}\b", re.IGNORECASE
)
_MONTH_DAY = re.compile(rf"{_NO_WORD}{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}\b", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"{_NO_WORD}{_MONTH}\s+(?:de\s+)?{_YEAR}\b", re.IGNORECASE)
_ISO = re.compile(rf"{_NO_WORD}{_YEAR}-(\d\d)-(\d\d)(?![\d-])")
_NUMBERS = re.compile(rf"{_NO_WORD}(\d{{1,2}})([./])(\d{{1,2}})\2{_YEAR}(?![\w-]|\.\d)")
_YEAR_ALONE = re.compile(
    rf"\b(?:founded|established|incorporated|started|launched|since|gegründet|fondée?|fundada)\s+(?:back\s+)?"
    rf"(?:in|en|im jahr|im)?\s*{_YEAR}\b",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(
    rf"\b(?:in|since|from|until|of|seit|depuis|desde|dal)\s+{_YEAR}\b(?!\s?[-–/%°]|\s+[a-z]+s\b)", re.IGNORECASE
)
_ISO_START = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ].*)?")


def dates(source: Source) -> Iterator[Mention]:
    """The more exact pattern wins where two begin alike: a month and a year within a day's date are not a second date."""
    taken: list[tuple[int, int]] = []

    def found(
        match: re.Match[str], value: str, confidence: float, detail: dict[str, str] | None = None
    ) -> Mention | None:
        if not value or any(start < match.end() and match.start() < end for start, end in taken):
            return None
        taken.append(match.span())
        place = source.around(*match.span())
        return Mention("date", value, match[0], place.passage, place.at, "pattern", confidence, detail or {})

    for mention in _readings(source, found):
        if mention is not None:
            yield mention
    for stamp, shown in source.times:
        if value := iso_date(stamp):
            place = source.locate(shown, stamp)
            yield Mention("date", value, shown or stamp, place.passage, place.at, "time", 0.97)


def _readings(source: Source, found) -> Iterator[Mention | None]:  # type: ignore[no-untyped-def]
    text = source.text
    for match in _ISO.finditer(text):
        yield found(match, _iso(match[1], match[2], match[3]), 0.95)
    for match in _DAY_MONTH.finditer(text):
        yield found(match, _iso(match[3], str(MONTHS[match[2].lower()]), match[1]), 0.95)
    for match in _MONTH_DAY.finditer(text):
        yield found(match, _iso(match[3], str(MONTHS[match[1].lower()]), match[2]), 0.95)
    for match in _NUMBERS.finditer(text):
        value, confidence = _numbered(match, source.lang)
        yield found(match, value, confidence)
    for match in _MONTH_YEAR.finditer(text):
        yield found(match, f"{match[2]}-{MONTHS[match[1].lower()]:02}", 0.9)
    for match in _YEAR_ALONE.finditer(text):
        yield found(match, match[1], 0.9, {"what": "founding" if match[0][:1].lower() in "fegi" else "year"})
    for match in _IN_YEAR.finditer(text):
        yield found(match, match[1], 0.75, {"what": "year"})


def _numbered(match: re.Match[str], lang: str) -> tuple[str, float]:
    """`3/4/2024`: the day first, but for American pages; surer where only one order is a date."""
    first, second, year = match[1], match[3], match[4]
    american = match[2] == "/" and lang.lower() in ("en-us", "en_us")
    day, month = (second, first) if american else (first, second)
    if int(month) > 12:
        day, month = month, day
    sure = match[2] == "." or int(day) > 12
    return _iso(year, month, day), 0.9 if sure else 0.6


def iso_date(stamp: str) -> str:
    """A machine's date as ISO: the day, or as much as it says; empty where it is none."""
    match = _ISO_START.fullmatch(stamp.strip())
    if match is None or int(match[1]) not in YEARS:
        return ""
    if match[3]:
        return _iso(match[1], match[2], match[3])
    return f"{match[1]}-{match[2]}" if match[2] and 1 <= int(match[2]) <= 12 else match[1] if not match[2] else ""


def _iso(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
