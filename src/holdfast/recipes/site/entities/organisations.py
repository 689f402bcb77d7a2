"""Organisations: the site's own name, names with a legal form, copyright lines. Normalised by `cleanco` when merged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

_FORMS = (
    r"Ltd\.?|Limited|Inc\.?|Incorporated|LLC|L\.L\.C\.|LLP|PLC|plc|Corp\.?|Corporation|GmbH(?:\s?&\s?Co\.?\s?KG)?|AG|KG|UG|"
    r"SE|S\.A\.S?\.?|SAS|SARL|S\.r\.l\.|SpA|S\.p\.A\.|B\.V\.|BV|N\.V\.|NV|AB|ASA?|A/S|ApS|Oy|Pty(?:\s+Ltd)?|Co\.|K\.K\.|s\.r\.o\.|a\.s\.|Sp\. z o\.o\."
)
_FIRST = r"(?:[A-ZÀ-Þ]|\d{1,3}[A-Z])[\w&'’-]*"  # `3M`, and no year or postcode
_WORD = r"(?:[A-Z0-9À-Þ][\w&'’.-]*|of|and|&|für|de)"
_WITH_FORM = re.compile(rf"(?<![\w.])({_FIRST}(?:\s+{_WORD}){{0,4}}?,?\s+(?:{_FORMS}))(?![\w])")
_SIGN = r"(?:(?i:Copyright)\s*(?:©|\([cC]\))?|©\s*(?i:Copyright)?+)"
_YEARS = r"\d{4}(?:\s?[-–,]\s?\d{4})*+"
_OWNER = rf"(?:(?!\d{{4}}\b)[A-Z0-9À-Þ][\w&'’.-]*)(?:\s+{_WORD}){{0,5}}"
_BRAND = r"(?!(?i:the|all|by|its|and|or|to|in|for|of|some)\b)[a-z][\w&'’-]+"  # `© 2024 npm`
# A lone `(c)` may count a list: it takes a year to be the sign.
_COPYRIGHT = re.compile(
    rf"(?:{_SIGN}\s*(?:{_YEARS}\s*)?+|\([cC]\)\s*{_YEARS}\s*),?\s*(?:(?i:the|by)\s+)*({_OWNER})"
    rf"|{_SIGN}\s*{_YEARS}\s*,?\s*({_BRAND})"
)
_NOISE = re.compile(r"\b(?:All|Rights|Reserved|The|By)\b.*$")
_TRAILING = re.compile(r"(?:\s+(?:of|and|&|für|de))+$")
_DATED = re.compile(r"^.*\b\d{4}(?:-\d\d){0,2}\s+(?=[A-ZÀ-Þ])")  # `Since 1995-07-04 Acme Ltd`
_LEADING = re.compile(
    r"^(?:The|Since|Seit|At|By|With|From|And|Of|In|For|About|Our|Contact|Copyright|Welcome to|Partner)\s+"
)


def organisations(source: Source) -> Iterator[Mention]:
    if source.site_name:
        place = source.locate(source.site_name)
        yield Mention("org", source.site_name, source.site_name, place.passage, place.at, "site name", 0.9)
    for match in _WITH_FORM.finditer(source.text):
        if "\n" in match[1]:
            continue
        name = _LEADING.sub("", _DATED.sub("", " ".join(match[1].split())))
        if name.endswith(".") and name.count(".") == 1:
            name = name[:-1]  # `Acme Ltd.` at the end of a sentence is `Acme Ltd`
        if " " in name:
            place = source.around(*match.span(1))
            yield Mention("org", name, match[1], place.passage, place.at, "legal form", 0.88)
    for match in _COPYRIGHT.finditer(source.text):
        group = 1 if match[1] else 2
        shown = match[group].split("\n")[0]
        name = _TRAILING.sub("", _NOISE.sub("", shown).strip(" .,|-"))
        if len(name) > 2 and not name.isdigit():
            place = source.around(match.start(), match.start(group) + len(shown))
            yield Mention("org", name, shown, place.passage, place.at, "copyright", 0.8)


def org_key(name: str) -> str:
    """The name without its legal form and marks: what is the same organisation has the same key."""
    from cleanco import basename  # type: ignore[import-untyped]

    bare = str(basename(name)) or name
    return re.sub(r"\W+", " ", bare).strip().casefold() or name.casefold()
