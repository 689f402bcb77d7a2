"""The judgments of the site and their five versions, exactly as the world's table has them. Rows only; no files,
no HTML.

`v1` has 120 rows: 8 criminal, 4 without file, 108 civil with file, which are 108 distinct tokens, because one row
repeats another's token and one cell holds two.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from holdfast.demo.judgments import voice
from holdfast.demo.tidepool import Dice

CIVIL_ROWS, CRIMINAL_ROWS, FILELESS_ROWS, LONG_TITLES = 107, 8, 4, 40
NEWEST = date(2025, 5, 30)
UNREADABLE_DATES = ("14th Marsh 2025", "undated")
FILELESS_CELLS = ("", "\u00a0", "-", "&nbsp;")
STAGES = ("v1", "v1 again", "v2", "v3", "v4", "v5")  # what `advance` steps through
GOOD = ("v1", "v2", "v5")
BASE_OF = {"v1 again": "v1", "v3": "v2", "v4": "v2"}  # what a stage shows on its pages


class ListedRuling(msgspec.Struct, frozen=True):
    """One row of the list. `tokens` are its files; `actions` and `date_text` are how its cells spell them."""

    tokens: tuple[str, ...]
    actions: str
    citation: str
    cause: str
    day: date
    date_text: str
    title: str
    subject: str
    court: str
    category: str

    @property
    def is_criminal(self) -> bool:
        return "crim" in self.category.lower()

    @property
    def is_dated(self) -> bool:
        return self.date_text not in UNREADABLE_DATES


HEADERS = {
    "v1": ("Neutral Citation", "Cause Number", "Judgment Date", "Title", "Subject", "Court", "Category", "Actions"),
    "v2": ("Title", "Cause No.", "Date", "Court", "Category", "Subject", "Neutral Citation", "Action"),
    "v5": ("Actions", "Case Title", "Court file", "Judgment Date", "Subject", "Category", "Court", "Neutral Citation"),
}
_CELLS = {
    "Neutral Citation": "citation", "Cause Number": "cause", "Cause No.": "cause", "Court file": "cause",
    "Judgment Date": "date_text", "Date": "date_text", "Title": "title", "Case Title": "title", "Subject": "subject",
    "Court": "court", "Category": "category", "Actions": "actions", "Action": "actions",
}  # fmt: skip


@lru_cache(maxsize=64)
def rows_of(seed: int, version: str) -> tuple[ListedRuling, ...]:
    """The rows of a version in the order of its file."""
    version = BASE_OF.get(version, version)
    if version == "v1":
        return _first(seed)
    dice = Dice(seed, "judgments", version)
    if version == "v2":
        rows = list(rows_of(seed, "v1"))
        civil = _plain_rows(rows)
        gone = dice.some(civil, 2)
        touched = dice.some([row for row in civil if row not in gone], 4)
        changed = {row: replace(row, title=f"{row.title} (No 2)") for row in touched[:3]}
        changed[touched[3]] = replace(touched[3], court=next(c for c in voice.COURTS if c != touched[3].court))
        rows = [changed.get(row, row) for row in rows if row not in gone]
        rows += [_civil(seed, 1_000 + number, NEWEST + timedelta(days=number)) for number in range(1, 8)]
        rows = _told_apart(rows, seed)
    else:
        before, rows = rows_of(seed, "v1"), list(rows_of(seed, "v2"))
        still = {token for row in rows for token in row.tokens}
        gone = [row for row in before if row.tokens and not still.intersection(row.tokens)]
        rows = _told_apart([*rows, gone[0], _civil(seed, 2_000, NEWEST + timedelta(days=20))], seed)
    return tuple(_reordered(rows, dice))


def csv_of(seed: int, version: str) -> bytes:
    """The file that the site serves: UTF-8 with byte order mark. `v3` has lost its Actions column."""
    header: tuple[str, ...] = HEADERS[BASE_OF.get(version, version)]
    if version == "v3":
        header = tuple(name for name in header if _CELLS[name] != "actions")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([getattr(row, _CELLS[name]) for name in header] for row in rows_of(seed, version))
    return out.getvalue().encode("utf-8-sig")


def newest_first(rows: Sequence[ListedRuling]) -> list[ListedRuling]:
    return sorted(rows, key=lambda row: (-row.day.toordinal(), row.citation))


def _first(seed: int) -> tuple[ListedRuling, ...]:
    dice = Dice(seed, "judgments", "v1")
    rows = [_civil(seed, number, NEWEST - timedelta(days=3 * number)) for number in range(CIVIL_ROWS)]
    rows = _told_apart(rows, seed)
    _share_titles(rows)
    rows[90] = replace(rows[90], date_text=UNREADABLE_DATES[0])
    rows[91] = replace(rows[91], date_text=UNREADABLE_DATES[1])
    second = _civil(seed, 500, rows[60].day).tokens[0]
    rows[60] = replace(rows[60], tokens=(*rows[60].tokens, second), actions=f"{rows[60].tokens[0]} | {second}")
    for number, spell in enumerate(_SPELLINGS, start=70):
        rows[number] = replace(rows[number], actions=spell(rows[number].tokens[0]))
    repeated = replace(rows[100], title=f"{rows[100].title} (reissued)", day=rows[100].day - timedelta(days=1))
    rows.append(replace(repeated, citation=f"{repeated.citation}A"))
    for number in range(CRIMINAL_ROWS):
        row = _civil(seed, 600 + number, NEWEST - timedelta(days=40 * number + 1))
        rows.append(
            replace(
                row,
                category=voice.CRIMINAL[number % 3],
                title=f"R v {voice.FIRST_NAMES[number]} {dice.one(voice.PEOPLE)}",
            )
        )
    for number in range(FILELESS_ROWS):
        row = _civil(seed, 700 + number, NEWEST - timedelta(days=70 * number + 2))
        rows.append(replace(row, tokens=(), actions=FILELESS_CELLS[number]))
    return tuple(newest_first(_told_apart(rows, seed)))


def _civil(seed: int, number: int, day: date) -> ListedRuling:
    dice = Dice(seed, "ruling", number)
    division = dice.one(voice.DIVISIONS)
    cause = 9_000 + number
    title = voice.title_of(dice)
    if 20 <= number < 20 + LONG_TITLES:
        title = f"{voice.LONG_TITLE}({number})"
    slug = voice.letters(title.removeprefix("In the Matter of ").partition(" v ")[0])[:24]
    token = f"{division}{cause}{day.year}{day:%d%m%Y}{slug}"
    return ListedRuling(
        tokens=(token,),
        actions=token,
        citation=f"[{day.year}] NRGC ({division}) {number + 1}",
        cause=f"{division} {cause} of {day.year}",
        day=day,
        date_text=_spelled(day, dice.number(0, 3)),
        title=title,
        subject=dice.one(voice.SUBJECTS),
        court=dice.one(voice.COURTS),
        category=dice.one(voice.CATEGORIES),
    )


def _share_titles(rows: list[ListedRuling]) -> None:
    """Three causes with two rulings each, under one title."""
    for first, title in ((0, "Tamarind Bay Ltd v Osprey Shipping"), (4, rows[4].title), (8, rows[8].title)):
        for row in (first, first + 1):
            rows[row] = replace(rows[row], title=title, cause=rows[first].cause)


_SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda token: f'<a href="/judgments/?fname={token}">Download</a>',
    lambda token: f'<a class="dl" data-dl="{token}" href="#"><i class="icon-dl"></i></a>',
    lambda token: f"%{ord(token[0]):02X}{token[1:]}%20",
    lambda token: f"\u00a0{token}\u00a0",
    lambda token: f"&#{ord(token[0])};{token[1:]}&nbsp;",
    lambda token: token.lower(),
)


def _spelled(day: date, form: int) -> str:
    return (f"{day:%Y-%m-%d}", f"{day:%Y-%b-%d}", f"{day:%d/%m/%Y}", f"{day:%d-%b-%Y}")[form]


def _told_apart(rows: list[ListedRuling], seed: int) -> list[ListedRuling]:
    """A title that a row has by chance in common with one of another cause gets a further party."""
    causes: dict[str, str] = {}
    told: list[ListedRuling] = []
    for row in rows:
        dice = Dice(seed, "further party", row.citation)
        while causes.setdefault(row.title, row.cause) != row.cause:
            row = replace(row, title=f"{row.title} and {voice.party(dice)}")
        told.append(row)
    return told


def _plain_rows(rows: Sequence[ListedRuling]) -> list[ListedRuling]:
    """Civil rows that play no other part, so that a change of one changes nothing else."""
    titles = Counter(row.title for row in rows)
    tokens = Counter(token for row in rows for token in row.tokens)
    return [
        row
        for row in rows
        if len(row.tokens) == 1 and tokens[row.tokens[0]] == titles[row.title] == 1
        if row.is_dated and not row.is_criminal and not row.title.startswith(voice.LONG_TITLE)
    ]


def _reordered(rows: list[ListedRuling], dice: Dice) -> list[ListedRuling]:
    """Any order, but of two rows with one token the same comes first."""
    drawn = dice.some(rows, len(rows))
    return sorted(drawn, key=lambda row: "reissued" in row.title)
