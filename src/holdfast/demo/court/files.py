"""The court's files: which numbers exist, and what each file says, from a seed. No name in them is real."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

import msgspec

from holdfast.demo.faults import chance
from holdfast.demo.tidepool import Dice

PREFIX, YEAR = "IMM", "49"
LAST = 2_480
GAPS = round(0.06 * LAST)
STRETCHES = ((700, 12), (1_600, 35))  # about where, and how many in a row
ALWAYS_THERE = (1, 23, 231, LAST)
DAILY = (3, 9)
NEW_YEAR = date(2049, 1, 1)

OFFICES = ("Toronto", "Ottawa", "Vancouver", "Montréal", "Calgary", "Winnipeg")
LANGUAGES = ("English", "French")
NATURES = (
    "Imm - Appl. for leave & jud. review - IRB - Refugee Appeal Division",
    "Imm - Appl. for leave & jud. review - IRB - Refugee Protection Division",
    "Imm - Appl. for leave & jud. review - Arising outside Canada",
    "Imm - Appl. for leave & jud. review - Other Arising in Canada",
    "Imm - Appl. for leave & jud. review - Pre-removal risk assessment",
)
FIRST_NAMES = ("MARLOWE", "ODETTE", "TOBIAS", "ILSE", "CASPIAN", "WREN", "LEOPOLD", "SABINE", "ORSON", "MIREILLE")
LAST_NAMES = (
    "TEAL",
    "HARROWGATE",
    "LINDQVIST",
    "OKONEDO-VALE",
    "PEREGRINE",
    "DUSKIN",
    "ARBOUR",
    "MOSSMAN",
    "QUILLFEATHER",
)
MINISTERS = ("CITIZENSHIP AND IMMIGRATION", "PUBLIC SAFETY AND EMERGENCY PREPAREDNESS")
ENTRIES = (
    "Notice of appearance on behalf of the respondent filed on {day} with proof of service on the applicant",
    "First request to tribunal/visa office under Rule 9 for certified record sent on {day}",
    "Acknowledgment of receipt received from both parties placed on file on {day}",
    "Application record number of copies received/prepared: 2 on behalf of applicant filed on {day}",
    "Order dated {day} rendered by the Court: application for leave dismissed; copy sent to all parties",
    "Memorandum of argument on behalf of the respondent filed on {day}",
    "Letter from applicant dated {day} requesting an extension of time & fee waiver received",
    "Affidavit of service on behalf of the applicant confirming service upon the respondent <by fax> filed on {day}",
)


class CourtEntry(msgspec.Struct, frozen=True):
    number: int
    day: str
    office: str
    summary: str


class CourtFile(msgspec.Struct, frozen=True):
    """One case. `entries` are newest first, so that their numbers go down to 1."""

    case_id: str
    style: str
    nature: str
    office: str
    language: str
    filed: str
    entries: tuple[CourtEntry, ...]
    case_type: str = "Immigration Matters"
    action: str = "Non-Action"


def case_id(number: int) -> str:
    return f"{PREFIX}-{number}-{YEAR}"


def number_of(text: str) -> int | None:
    """The number that a well-formed id of this court and year has; the site forgives spaces and small letters."""
    prefix, _, rest = text.strip().upper().partition("-")
    digits, _, year = rest.partition("-")
    if prefix != PREFIX or year != YEAR or not digits.isdecimal() or str(int(digits)) != digits:
        return None
    return int(digits)


@lru_cache(maxsize=8)
def gaps(seed: int) -> frozenset[int]:
    """Numbers up to LAST that were withdrawn: two stretches, and the rest one by one, none beside a stretch."""
    dice = Dice(seed, "gaps")
    missing: set[int] = set()
    kept: set[int] = set(ALWAYS_THERE)
    for near, length in STRETCHES:
        first = near + dice.number(0, 300)
        missing.update(range(first, first + length))
        kept.update((first - 1, first + length))
    while len(missing) < GAPS:
        number = dice.number(2, LAST - 1)
        neighbours = {number - 2, number - 1, number + 1, number + 2} & missing
        if number not in kept and not neighbours:
            missing.add(number)
    return frozenset(missing)


@lru_cache(maxsize=64)
def last_number(seed: int, day: int) -> int:
    """The highest number filed up to a day; day 0 is how the world begins."""
    return LAST + sum(Dice(seed, "filed", later).number(*DAILY) for later in range(1, day + 1))


def exists(seed: int, number: int, day: int) -> bool:
    return 1 <= number <= last_number(seed, day) and number not in gaps(seed)


@lru_cache(maxsize=4_096)
def file_of(seed: int, number: int) -> CourtFile:
    """What the file of an existing number says."""
    dice = Dice(seed, "court file", number)
    filed = NEW_YEAR + timedelta(days=number * 300 // LAST)
    office = dice.one(OFFICES)
    draw = chance(seed, "docket", number)
    count = 1 if draw < 0.15 else 60 if draw > 0.97 else dice.number(2, 14)
    style = f"{dice.one(FIRST_NAMES)} {dice.one(LAST_NAMES)} v. THE MINISTER OF {dice.one(MINISTERS)}"
    return CourtFile(
        case_id=case_id(number),
        style=style,
        nature=dice.one(NATURES),
        office=office,
        language=dice.one(LANGUAGES),
        filed=filed.isoformat(),
        entries=tuple(_entry(dice, filed, entry, office) for entry in range(count, 0, -1)),
    )


def _entry(dice: Dice, filed: date, number: int, office: str) -> CourtEntry:
    day = filed + timedelta(days=5 * (number - 1))
    text = dice.one(ENTRIES).format(day=f"{day:%d-%b-%Y}".upper())
    return CourtEntry(number, day.isoformat(), office if number % 7 else dice.one(OFFICES), text)
