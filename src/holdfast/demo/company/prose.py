"""Sentences in the voice of a company's trade: the same for the same seed and subject."""

from __future__ import annotations

from holdfast.demo.company.facts import CompanyFacts
from holdfast.demo.tidepool import Dice


def prose(facts: CompanyFacts, *about: object, sentences: int = 4) -> str:
    dice, trade = Dice(facts.seed, "prose", *about), facts.trade
    made = []
    for _ in range(sentences):
        text = dice.one(trade.claims).format(
            thing=dice.one(trade.things), virtue=dice.one(trade.virtues), customer=dice.one(trade.customers),
            number=dice.number(3, 90),
        )  # fmt: skip
        made.append(text[0].upper() + text[1:])
    return " ".join(made)
