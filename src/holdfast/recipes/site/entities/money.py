"""Amounts of money: a currency beside a number, made `EUR 49`, with what it is paid for (`month`, `user`)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import chain

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

SIGNS = {"€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "zł": "PLN", "Kč": "CZK"}
SIGNS |= {"US$": "USD", "A$": "AUD", "C$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "R$": "BRL", "$": "USD"}
CODES = [
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "JPY",
    "CNY",
    "AUD",
    "CAD",
    "NZD",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "HUF",
    "RON",
    "BGN",
    "TRY",
    "INR",
    "BRL",
    "MXN",
    "ZAR",
    "SGD",
    "HKD",
    "KRW",
    "ILS",
    "AED",
    "SAR",
    "KYD",
]
WORDS = {"euro": "EUR", "euros": "EUR", "dollars": "USD", "pounds": "GBP", "sterling": "GBP"}
SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "mio": 6, "bn": 9, "b": 9, "billion": 9}
_SIGN = "|".join(sorted(map(re.escape, SIGNS), key=len, reverse=True))
_CODE = "|".join(CODES)
_NUMBER = r"(\d{1,3}(?:[ ,.'’\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?)(?![\d])"
_SCALE = r"(?:\s?(k|thousand|million|mio|mn|m|billion|bn|b)\b\.?)?"
_BEFORE = re.compile(rf"(?<![\w$])({_SIGN}|{_CODE})\s?{_NUMBER}{_SCALE}", re.IGNORECASE)
_AFTER = re.compile(rf"(?<![\w.,$€£]){_NUMBER}{_SCALE}\s?({_SIGN}|(?:{_CODE}|euros?|dollars|pounds)\b)", re.IGNORECASE)
_PER = re.compile(
    r"\s*(?:/|per|a|each|pro|par)\s*(month|mo|year|yr|annum|user|seat|hour|day|week|unit|item|person|licen[cs]e)\b",
    re.IGNORECASE,
)
_PERIODS = {"mo": "month", "yr": "year", "annum": "year", "license": "licence"}


def money(source: Source) -> Iterator[Mention]:
    ends: list[int] = []  # of amounts behind their currency, and where each begins: those of one pattern lie apart
    starts: list[int] = []
    for match in chain(_BEFORE.finditer(source.text), _AFTER.finditer(source.text)):
        before = match.re is _BEFORE
        at = bisect_right(ends, match.start())
        if not before and at < len(ends) and starts[at] < match.end():
            continue
        unit, number, scale = (match[1], match[2], match[3]) if before else (match[3], match[1], match[2])
        currency, amount = currency_of(unit), amount_of(number, scale)
        if currency is None or amount is None:
            continue
        if before:
            starts.append(match.start())
            ends.append(match.end())
        place = source.around(*match.span())
        per = _PER.match(source.text, match.end())
        detail = {"per": _PERIODS.get(per[1].lower(), per[1].lower())} if per else {}
        sure = 0.85 if unit == "$" else 0.93
        yield Mention("money", as_value(currency, amount), match[0], place.passage, place.at, "pattern", sure, detail)


def currency_of(unit: str) -> str | None:
    """None of a code in small letters: `5 all` and `3 sek` are words."""
    if unit in SIGNS:
        return SIGNS[unit]
    if unit.upper() in SIGNS:
        return SIGNS[unit.upper()]
    if unit in CODES:
        return unit
    return WORDS.get(unit.lower())


def amount_of(number: str, scale: str | None) -> Decimal | None:
    """`1.299,00`, `1,299.00`, `1 299`: a mark before three digits parts thousands, the last of two is decimal."""
    digits = re.sub(r"[ '’\u00a0\u202f]", "", number)
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0 and len(digits) - last - 1 != 3:
        digits = re.sub(r"[.,]", "", digits[:last]) + "." + digits[last + 1 :]
    else:
        digits = re.sub(r"[.,]", "", digits)
    amount = exact_amount(digits)
    return None if amount is None else amount * (10 ** SCALES[scale.lower()] if scale else 1)


def exact_amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**15 else None


def as_value(currency: str, amount: Decimal) -> str:
    """`EUR 49`, `EUR 49.50`."""
    return f"{currency} {amount:.0f}" if amount == amount.to_integral_value() else f"{currency} {amount:.2f}"
