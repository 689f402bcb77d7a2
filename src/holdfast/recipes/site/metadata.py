"""What a page says about itself: description, language, dates, author; JSON-LD first, then OpenGraph, then meta tags.

Only what is stated is told, nothing is guessed from the text. Dates are RFC 3339 or a day; others are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import msgspec

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

VALUE_MAX = 1_000  # characters of one value
SCRIPT_MAX = 200_000  # characters of JSON-LD that are read
JSON_LD_BYTES_MAX = 20_000  # and bytes of it that are kept
TAGS_MAX = 500
OPEN_GRAPH_MAX = 40

_PUBLISHED = (
    *("article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dcterms.created"),
    *("dcterms.date", "pubdate", "publish_date", "publication_date", "citation_publication_date", "sailthru.date"),
)
_MODIFIED = (
    *("article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified", "lastmod"),
    *("revised", "docutils-last-modified", "last_modified"),
)
_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "byl", "parsely-author", "citation_author")
_DESCRIPTION = ("og:description", "description", "twitter:description", "dc.description")


def read_metadata(parser: LexborHTMLParser, url: str) -> dict[str, Any]:
    """Always the same keys, in the same order; None where a page does not say."""
    tags = _tags(parser)
    linked = _json_ld(parser)
    article = _article(linked)
    return {
        "title": _short(_title(parser)) or _short(tags.get("og:title")),
        "description": _first(tags, _DESCRIPTION) or _text_of(article.get("description")),
        "language": _language(parser, tags, article),
        "canonical": _canonical(parser, tags, url),
        "site_name": _short(tags.get("og:site_name")) or _text_of(article.get("publisher")),
        "author": _text_of(article.get("author")) or _first(tags, _AUTHOR),
        "published": _moment(article.get("datePublished")) or _moment_of(tags, _PUBLISHED),
        "modified": _moment(article.get("dateModified")) or _moment_of(tags, _MODIFIED),
        "open_graph": dict(sorted(_open_graph(tags))[:OPEN_GRAPH_MAX]),
        "json_ld": linked if len(msgspec.json.encode(linked)) <= JSON_LD_BYTES_MAX else [],
    }


def _tags(parser: LexborHTMLParser) -> dict[str, str]:
    """Every meta tag's value by its lower-case name; the first one counts."""
    found: dict[str, str] = {}
    for tag in parser.css("meta[content]")[:TAGS_MAX]:
        attributes = tag.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        value = (attributes.get("content") or "").strip()
        if name and value:
            found.setdefault(name.strip().lower(), value)
        elif value and (attributes.get("http-equiv") or "").lower() == "content-language":
            found.setdefault("content-language", value)
    return found


def _title(parser: LexborHTMLParser) -> str:
    tag = parser.css_first("head > title") or parser.css_first("body > title")
    return "" if tag is None else tag.text()


def _language(parser: LexborHTMLParser, tags: dict[str, str], article: dict[str, Any]) -> str | None:
    root = parser.css_first("html")
    said = "" if root is None else root.attributes.get("lang") or root.attributes.get("xml:lang") or ""
    said = said or tags.get("content-language", "") or _text_of(article.get("inLanguage")) or tags.get("og:locale", "")
    said = said.split(",")[0].strip().replace("_", "-")
    return said if said and len(said) <= 35 and all(part.isalnum() for part in said.split("-")) else None


def _canonical(parser: LexborHTMLParser, tags: dict[str, str], url: str) -> str | None:
    link = parser.css_first("link[rel~=canonical][href]")
    said = (link.attributes.get("href") or "" if link is not None else "") or tags.get("og:url", "")
    try:
        whole = urljoin(url, said.strip()) if said.strip() else ""
    except ValueError:
        return None
    return whole if whole.startswith(("http://", "https://")) and len(whole) <= VALUE_MAX else None


def _json_ld(parser: LexborHTMLParser) -> list[dict[str, Any]]:
    """The objects of all JSON-LD scripts that can be read."""
    found: list[dict[str, Any]] = []
    left = SCRIPT_MAX
    for script in parser.css('script[type="application/ld+json"]'):
        text = script.text()
        left -= len(text)
        if left < 0:
            break
        try:
            found += _objects(msgspec.json.decode(text.strip()))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
    return found


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict) and isinstance(each.get("@graph"), list):
            yield from (inner for inner in each["@graph"] if isinstance(inner, dict))
        elif isinstance(each, dict):
            yield each


def _article(linked: list[dict[str, Any]]) -> dict[str, Any]:
    """The object that speaks of this page: one with a date, else one that has an author or a headline."""
    for keys in (("datePublished",), ("dateModified",), ("headline", "author")):
        for each in linked:
            if any(key in each for key in keys):
                return each
    return {}


def _open_graph(tags: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in tags.items():
        if name.startswith("og:") and len(name) <= 60:
            yield name.removeprefix("og:"), value[:VALUE_MAX]


def _text_of(value: Any) -> str | None:
    """A name, whether it is said plainly, as an object, or as a list of them."""
    if isinstance(value, list):
        names = [name for each in value[:10] if (name := _text_of(each))]
        return _short(", ".join(names))
    if isinstance(value, dict):
        value = value.get("name")
    return _short(value) if isinstance(value, str) else None


def _first(tags: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((short for name in names if (short := _short(tags.get(name)))), None)


def _short(text: str | None) -> str | None:
    return " ".join((text or "").split())[:VALUE_MAX] or None


def _moment_of(tags: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((moment for name in names if (moment := _moment(tags.get(name)))), None)


def _moment(value: Any) -> str | None:
    """A date as it is said, if it is one: ISO 8601, or as mail writes it."""
    text = value.strip().replace("/", "-") if isinstance(value, str) else ""
    if not 8 <= len(text) <= 40:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return moment.date().isoformat() if len(text) <= 10 else moment.isoformat(timespec="seconds").replace("+00:00", "Z")
