"""Places and postal addresses outside structured data: `<address>`, street lines, and a gazetteer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from holdfast.recipes.site.entities.countries import ALSO_WORDS, cities, countries, country_name
from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source, clean

_POSTCODE = (
    r"(?:[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|\d{4}\s?[A-Z]{2}\b|[A-Z]\d[A-Z]\s?\d[A-Z]\d|[A-Z]\d[\dW]\s?[A-Z0-9]{4}\b|[A-Z]{2}\s\d{5}(?:-\d{4})?|"
    r"(?<!\d)\d{4,5}(?!\d))"
)
_STREET_EN = (
    r"\d{1,5}[A-Za-z]?(?:\s?[-–]\s?\d{1,5})?,?\s+(?:[A-Z][\w'’.-]*\s+){1,4}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Square|Sq|Way|Place|Pl|Court|Ct|Boulevard|Blvd|Parade|Quay|Wharf|"
    r"Terrace|Row|Hill|Close|Crescent|Highway|Hwy|Park|Mews|Gardens|Walk|Yard)\b\.?"
)
_STREET_DE = r"[A-ZÄÖÜ][\wäöüß.-]*(?:[Ss]tra(?:ß|ss)e|[Ss]tr\.|[Ww]eg|[Pp]latz|[Aa]llee|[Gg]asse|straat|laan|gracht|plein|kade)\s+\d{1,4}\s?[a-z]?"
_STREET_FR = r"\d{1,4},?\s+(?:rue|avenue|boulevard|place|quai|chemin)\s+[\w'’ -]{3,40}"
_STREET = re.compile(rf"(?<![\w])(?:{_STREET_EN}|{_STREET_DE}|{_STREET_FR})")
_REST = re.compile(
    rf"[^\n]{{0,90}}?{_POSTCODE}(?:[ ,]+[A-ZÀ-Þ][^\W\d_][^\W\d_.'’ -]*(?:[ -][A-ZÀ-Þ][^\W\d_]+){{0,2}}(?:, ?[A-Z][^\W\d_]+)?)?"
)
_CODE = re.compile(_POSTCODE)
_TOWN_WORD = r"[A-ZÀ-Þ][^\W\d_A-Z][^\W\d_]*"  # `Duluth`, and no `MN` behind it
_TOWN = rf"{_TOWN_WORD}(?:[ '’-](?:{_TOWN_WORD}|upon|am|of|the|on|de|le|la)){{0,3}}"
_TOWN_FIRST = re.compile(rf"[\s,]*({_TOWN}),?\s+(?:[A-Z]{{2,3}}\s+)?{_POSTCODE}")
_CODE_FIRST = re.compile(rf"[\s,]*{_POSTCODE},?\s+({_TOWN})")
_CUE = re.compile(
    r"\b(?:in|at|from|near|to|across|based in|offices? in|headquartered in|located in|between|and|serving|outside|of)\s+$",
    re.IGNORECASE,
)
_STRONG_CUE = re.compile(
    r"\b(?:based|offices?|headquartered|headquarters|located|branch(?:es)?|hub|live|lives)\s+in\s+$", re.IGNORECASE
)
_LICENCE = re.compile(r"(?<![a-z])(?:licen[cs]es?|copying|[al]?gpl|g?fdl)(?![a-z])", re.IGNORECASE)
_LICENSOR = "Free Software Foundation"
_LICENSOR_NEAR = 200  # characters between the name and the address
_NAME = re.compile(r"(?<![\w'’-])[A-ZÀ-Þ][\w'’.-]*(?:[ -](?:[A-ZÀ-Þ][\w'’-]*|am|upon|de|of|the)){0,3}")


def addresses(source: Source) -> Iterator[Mention]:
    """Those of whoever runs the site: a licence's text has the address of who wrote the licence."""
    if is_licence(source):
        return
    for block in source.addresses:
        lines = [clean(line) for line in block.split("\n") if clean(line)]
        joined = ", ".join(line.strip(" ,") for line in lines)
        if _STREET.search(joined) and _CODE.search(joined):
            value = _address_in(joined)
            place = source.locate(next(line for line in lines if _STREET.search(line) or _CODE.search(line)))
            if _is_of_licensor(source, place.at):
                continue
            yield from _with_town(Mention("address", value, joined, place.passage, place.at, "address element", 0.93))
    for match in _STREET.finditer(source.text):
        shown = _from_street(source.text[match.start() : match.end() + 140], match.end() - match.start())
        if not shown or _is_of_licensor(source, match.start()):
            continue
        place = source.around(match.start(), match.end())
        yield from _with_town(Mention("address", _tidy(shown), shown, place.passage, place.at, "street line", 0.85))


def is_licence(source: Source) -> bool:
    """Whether its path or title says that it is the text of a licence."""
    return _LICENCE.search(f"{urlsplit(source.url).path} {source.title}") is not None


def _is_of_licensor(source: Source, at: int) -> bool:
    return at >= 0 and _LICENSOR in clean(source.text[max(0, at - _LICENSOR_NEAR) : at + _LICENSOR_NEAR])


def _from_street(text: str, street: int) -> str:
    """The address that begins with a street: on its line, or with the postcode on one of the next two."""
    lines = text.split("\n")[:3]
    for count in range(1, len(lines) + 1):
        window = ", ".join(lines[:count])
        rest = _REST.match(window, street)
        if rest is not None:
            return "" if _STREET.search(window, street, rest.end()) else window[: rest.end()]
    return ""


def _address_in(joined: str) -> str:
    """From the street on to behind the postcode: names and phone numbers around it are not part of it."""
    street = _STREET.search(joined)
    start = street.start() if street else 0
    rest = _REST.match(joined, street.end() if street else 0)
    return _tidy(joined[start : rest.end() if rest else len(joined)])


def _tidy(text: str) -> str:
    return re.sub(r"(?:\s*,\s*)+", ", ", clean(text)).strip(" ,.")


def town_in(value: str) -> str:
    """The town of an address that begins with its street: before the postcode, or behind it."""
    street = _STREET.match(value)
    if street is None:
        return ""
    town = _TOWN_FIRST.match(value, street.end()) or _CODE_FIRST.match(value, street.end())
    return town[1] if town and town[1] not in countries() else ""


def _with_town(address: Mention) -> Iterator[Mention]:
    yield address
    if town := town_in(address.value):
        yield Mention("location", town, town, address.passage, address.at, "address", address.confidence - 0.05)


def address_key(value: str) -> str:
    """House number and postcode say which address it is, however the rest is written."""
    code = _CODE.findall(value)
    number = re.search(r"\d{1,5}", value)
    if code and number:
        return f"{number[0]}/{re.sub(r'[^A-Z0-9]', '', code[-1].upper())[-7:]}"
    return re.sub(r"\W+", "", value).casefold()


def locations(source: Source) -> Iterator[Mention]:
    """Names of the gazetteer that a word such as `in` leads to, or that a country or an address follows."""
    known, lands = cities(), countries()
    for match in _NAME.finditer(source.text):
        at, found = _longest(match[0], known, lands)
        if not found:
            continue
        start = match.start() + at
        end = start + len(found)
        before, behind = source.text[max(0, start - 25) : start], source.text[end : end + 40]
        confidence = _belief(found, before, behind, lands)
        if confidence:
            place = source.around(start, end)
            value = country_name(found) if found in lands else found
            detail = {"kind": "country"} if found in lands else {"country": known[found]}
            yield Mention("location", value, found, place.passage, place.at, "gazetteer", confidence, detail)


def _longest(text: str, known: dict[str, str], lands: dict[str, str]) -> tuple[int, str]:
    """(where, which) of the longest name of the gazetteer among capitalised words: `AB Utrecht` has one."""
    words = text.split(" ")
    for count in range(len(words), 0, -1):
        for first in range(len(words) - count + 1):
            candidate = " ".join(words[first : first + count]).rstrip(".,'’")
            if (candidate in known or candidate in lands) and len(candidate) > 2:
                return len(" ".join(words[:first])) + bool(first), candidate
    return 0, ""


def _belief(name: str, before: str, behind: str, lands: dict[str, str]) -> float:
    """How sure a name is a place here; 0: not believed."""
    follows = behind[1:].lstrip() if behind.startswith(",") else ""
    in_country = any(follows.startswith(land) for land in lands) if follows else False
    in_address = bool(_CODE.match(behind.lstrip(" ,"))) or bool(re.search(rf"{_POSTCODE}[ ,]+$", before))
    cued = bool(_CUE.search(before)) and not re.match(r"\s+[A-ZÀ-Þ][a-z]", behind)
    if name in lands:
        return 0.85 if cued or re.search(r",\s$", before) else 0.0
    if name in ALSO_WORDS:
        return 0.8 if _STRONG_CUE.search(before) or (cued and in_country) else 0.0
    if in_country or in_address:
        return 0.9
    return (0.9 if _STRONG_CUE.search(before) else 0.75) if cued else 0.0
