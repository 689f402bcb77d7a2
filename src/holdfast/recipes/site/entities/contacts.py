"""E-mail addresses and phone numbers: links first, then patterns. A bare row of digits is not a phone number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source
from holdfast.recipes.site.entities.structured import text_of

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?![\w@])")
_HIDDEN = re.compile(
    r"(?<![\w.+-])([\w.+-]{1,64}) ?[\[({] ?at ?[\])}] ?([\w-]{1,63}(?:(?:\.| ?[\[({] ?dot ?[\])}] ?)[\w-]{1,63}){1,5})",
    re.IGNORECASE,
)
_DOT = re.compile(r"\s?[\[({]\s?dot\s?[\])}]\s?", re.IGNORECASE)
_FILE = re.compile(r"\.(png|jpe?g|gif|svg|webp|css|js)$", re.IGNORECASE)  # `logo@2x.png`
_INTERNATIONAL = re.compile(r"(?<![\w+])(?:\+|00)\s?[1-9]\d{0,2}[\d\s().\u00a0/-]{5,22}\d")
_CUED = re.compile(
    r"\b(?:phone|telephone|tel|call(?:\s+us)?(?:\s+(?:on|at))?|mobile|cell|fax|hotline|telefon|tél(?:éphone)?|ring)\b"
    r"\.?\s{0,2}[:.]?\s{0,3}(\(?0?[\d][\d\s().\u00a0/-]{5,20}\d)",
    re.IGNORECASE,
)
_COUNTRY_DOMAINS = {"uk": "GB", "de": "DE", "fr": "FR", "nl": "NL", "es": "ES", "it": "IT", "ch": "CH", "at": "AT"}
_COUNTRY_DOMAINS |= {"be": "BE", "ie": "IE", "ca": "CA", "au": "AU", "se": "SE", "dk": "DK", "no": "NO", "ky": "KY"}


def emails(source: Source) -> Iterator[Mention]:
    for link in source.links:
        if link.href[:7].lower() == "mailto:":
            shown = unquote(link.href[7:].partition("?")[0]).strip()
            if value := _valid(shown):
                place = source.locate(shown, link.href)
                yield Mention("email", value, shown, place.passage, place.at, "mailto", 0.98)
    for match in _EMAIL.finditer(source.text):
        shown = match[0].rstrip(".-")
        if value := _valid(shown):
            place = source.around(*match.span())
            yield Mention("email", value, shown, place.passage, place.at, "pattern", 0.95)
    for match in _HIDDEN.finditer(source.text):
        domain = _DOT.sub(".", match[2]).replace(" ", "")
        if value := _valid(f"{match[1]}@{domain}"):
            place = source.around(*match.span())
            yield Mention("email", value, match[0], place.passage, place.at, "obfuscated", 0.85)


def _valid(text: str) -> str:
    from email_validator import EmailNotValidError, validate_email

    if _FILE.search(text) or text.lower().endswith((".invalid", ".localhost")):
        return ""
    try:
        found = validate_email(text, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return ""
    return str(found.normalized).lower()


def phones(source: Source) -> Iterator[Mention]:
    """By links, by an international prefix, or behind a word such as `Tel.`; numbers of no country are dropped."""
    region = region_of(source)
    for link in source.links:
        if link.href[:4].lower() == "tel:":
            shown = unquote(link.href[4:].partition(";")[0])
            if value := _number(shown, region, lenient=True):
                place = source.locate(link.text, link.href)
                yield Mention("phone", value, link.text or shown, place.passage, place.at, "tel", 0.97)
    for pattern, group, confidence in ((_INTERNATIONAL, 0, 0.93), (_CUED, 1, 0.85)):
        for match in pattern.finditer(source.text):
            shown = match[group].split("\n")[0].strip(" .-/")
            if value := _number(shown, region, lenient=False):
                place = source.around(match.start(), match.start(group) + len(shown))
                yield Mention("phone", value, shown, place.passage, place.at, "pattern", confidence)


def region_of(source: Source) -> str | None:
    """The country whose dialling rules a number without a prefix follows: as its address, language or domain says."""
    import phonenumbers

    from holdfast.recipes.site.entities.countries import countries

    for thing in source.data:
        said = text_of(thing, "addressCountry")
        if code := countries().get(said, said.upper() if len(said) == 2 else ""):
            return code
    for match in _INTERNATIONAL.finditer(source.text):
        try:
            parsed = phonenumbers.parse(_prefixed(match[0]), None)
        except phonenumbers.NumberParseException:
            continue
        return phonenumbers.region_code_for_number(parsed)
    if len(source.lang) == 5:
        return source.lang[3:].upper()
    host = source.url.split("/")[2].partition(":")[0] if source.url.count("/") >= 2 else ""
    return _COUNTRY_DOMAINS.get(host.rpartition(".")[2])


def _number(shown: str, region: str | None, *, lenient: bool) -> str:
    """E.164, empty where it is not a number of any country. `lenient`: a link says that it is one."""
    import phonenumbers

    try:
        parsed = phonenumbers.parse(_prefixed(shown), region)
    except phonenumbers.NumberParseException:
        return ""
    known = phonenumbers.is_valid_number(parsed) or (lenient and phonenumbers.is_possible_number(parsed))
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164) if known else ""


def _prefixed(shown: str) -> str:
    """`00 44 …` is `+44 …`; a zero in brackets is for callers at home."""
    text = re.sub(r"\(0\)", "", shown.strip())
    return "+" + text[2:].lstrip() if text.startswith("00") else text
