"""The words of an invented island court: parties, subjects, judges and sentences from a seed. No name is real."""

from __future__ import annotations

import re

from holdfast.demo.tidepool import Dice

DIVISIONS = ("FSD", "G", "FAM", "CICA")
SHAPES = (
    "Holdings",
    "Shipping",
    "Capital Ltd",
    "Reinsurance SPC",
    "Master Fund LP",
    "Trust Co",
    "Estates",
    "Marine Ltd",
)
PLACES = (
    "North Reef", "Osprey", "Tamarind Bay", "Copper Cay", "Saltmarsh", "Pelican Sound", "Lantern Point", "Mangrove",
    "Coral Gate", "Windward", "Heron Quay", "Blue Anchor", "Sandpiper", "Breadfruit Lane", "Turtle Bank", "Ironwood",
)  # fmt: skip
PEOPLE = ("Quayle", "Marlowe", "Teal", "Farrow", "Hollis", "Bodden-Vale", "Ardent", "Kestrel", "Loxley", "Penrose")
FIRST_NAMES = ("Rosalind", "Edmund", "Ines", "Cyril", "Thora", "Jonas", "Adela", "Percival", "Maud", "Silas")
SUBJECTS = (
    "Winding up petition", "Norwich Pharmacal relief", "Discovery", "Costs", "Stay of execution", "Trust construction",
    "Appointment of receivers", "Judicial review", "Security for costs", "Fraudulent disposition",
)  # fmt: skip
COURTS = ("Grand Court", "Civil Court", "Court of Appeal", "Summary Court")
CATEGORIES = ("Civil Grand", "Commercial Division", "Family", "Civil Appeal", "Admiralty")
CRIMINAL = ("Criminal Grand", "Criminal Appeal", "Summary Crim")
REGISTERS = {"Notaries Public": "NP", "Marriage Officers": "MO", "Justices of the Peace": "JP", "Process Servers": "PS"}
_FINDINGS = (
    "the plaintiff has not discharged the burden that rests upon it", "the deed speaks for itself",
    "no prejudice has been shown to the other side", "the statutory demand was served in time",
    "the evidence of the second witness is to be preferred", "the delay is explained, if barely",
    "the liquidators acted within their powers", "the balance of convenience favours the respondent",
)  # fmt: skip
_OPENINGS = (
    "In my judgment",
    "It follows that",
    "Counsel submits, and I accept, that",
    "On the affidavits",
    "I find that",
)
_ENDS = (
    "The summons is dismissed.", "Costs follow the event.", "There will be an order in the terms of the draft.",
    "I grant leave to amend within fourteen days.", "The matter is stood over to the next term.",
)  # fmt: skip
LONG_TITLE = (
    "In the Matter of the Companies Act and in the Matter of the Lantern Point Segregated Portfolio Company acting for "
    "and on behalf of its Windward Opportunities Segregated Portfolio and of its creditors "
)


def party(dice: Dice) -> str:
    return f"{dice.one(PLACES)} {dice.one(SHAPES)}"


def title_of(dice: Dice) -> str:
    match dice.number(1, 4):
        case 1:
            return f"In the Matter of {party(dice)}"
        case 2:
            return f"{dice.one(PEOPLE)} v {party(dice)}"
        case _:
            return f"{party(dice)} v {party(dice)}"


def person(dice: Dice) -> str:
    return f"{dice.one(FIRST_NAMES)} {dice.one(PEOPLE)}"


def paragraphs(dice: Dice) -> list[str]:
    """A ruling of 8 to 60 numbered paragraphs."""
    return [f"{number}. {_paragraph(dice)}" for number in range(1, dice.number(8, 60) + 1)]


def _paragraph(dice: Dice) -> str:
    found = [f"{dice.one(_OPENINGS)} {dice.one(_FINDINGS)}." for _ in range(dice.number(1, 4))]
    return " ".join([*found, dice.one(_ENDS)])


def letters(text: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "", text.upper())
