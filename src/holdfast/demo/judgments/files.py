"""The files behind the tokens: PDFs with real text, made when they are first asked for. One pair has the same bytes."""

from __future__ import annotations

from functools import lru_cache

from holdfast.demo.judgments import voice
from holdfast.demo.judgments.docket import GOOD, ListedRuling, rows_of
from holdfast.demo.judgments.pdf import write_pdf
from holdfast.demo.tidepool import Dice

REGISTER_ROWS = 24
LEGACY_SHARE = 12  # one token in so many has its file at the old address too


@lru_cache(maxsize=8)
def rulings(seed: int) -> dict[str, ListedRuling]:
    """Every token that ever had a file, with the row that named it first."""
    found: dict[str, ListedRuling] = {}
    for version in GOOD:
        for row in rows_of(seed, version):
            for token in row.tokens:
                found.setdefault(token, row)
    return found


@lru_cache(maxsize=8)
def registers(seed: int) -> dict[str, tuple[str, str, str, str]]:
    """The rows of `public-registers.csv` by their token. A few have no reference and are known by name."""
    found: dict[str, tuple[str, str, str, str]] = {}
    kinds = tuple(voice.REGISTERS)
    for number in range(REGISTER_ROWS):
        dice = Dice(seed, "register", number)
        kind = kinds[number % len(kinds)]
        name = f"{voice.person(dice)} {'I' * (number // len(kinds))}".strip()
        reference = "" if number % 9 == 8 else f"{voice.REGISTERS[kind]}-{7_000 + dice.number(1, 9) + 10 * number}"
        day = f"{2019 + number % 6}-{dice.number(1, 12):02d}-{dice.number(1, 28):02d}"
        found[voice.letters(kind + (reference or name))] = (kind, name, reference, day)
    return found


@lru_cache(maxsize=512)
def file_of(seed: int, token: str) -> bytes | None:
    """The PDF of a token, None where the site has none."""
    if token in rulings(seed):
        twin = _twins(seed)
        told = twin[0] if token in twin else token
        return _ruling_pdf(seed, told, rulings(seed)[told])
    if (entry := registers(seed).get(token)) is not None:
        kind, name, reference, day = entry
        lines = [f"{name} is entered in the register of {kind}.", f"Reference {reference or 'none'}; since {day}."]
        return write_pdf(f"Certificate: {kind}", lines * 8)
    return None


def has_legacy_path(seed: int, token: str) -> bool:
    return Dice(seed, "legacy", token).number(1, LEGACY_SHARE) == 1


def _twins(seed: int) -> tuple[str, str]:
    """Two civil tokens of the first version whose files are the same, byte for byte."""
    civil = [row.tokens[0] for row in rows_of(seed, "v1") if len(row.tokens) == 1 and not row.is_criminal]
    return civil[30], civil[31]


def _ruling_pdf(seed: int, token: str, row: ListedRuling) -> bytes:
    dice = Dice(seed, "pdf", token)
    heading = f"IN THE {row.court.upper()} OF THE NORTHERN REEFS"
    head = [heading, f"Cause No. {row.cause}", row.title, f"Before the Hon. Justice {dice.one(voice.PEOPLE)}", "RULING"]
    return write_pdf(f"{row.citation} {token}", [*head, *voice.paragraphs(dice)])
