"""All that one stored page says: its entities and its telling passages, as the record of the extracting phase.

Pure and deterministic: the same bytes always give the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

import msgspec

from holdfast.recipes.site.entities.contacts import emails, phones
from holdfast.recipes.site.entities.dates import dates
from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.money import money
from holdfast.recipes.site.entities.organisations import organisations
from holdfast.recipes.site.entities.passages import Passage, passages
from holdfast.recipes.site.entities.people import people
from holdfast.recipes.site.entities.places import addresses, locations
from holdfast.recipes.site.entities.products import products
from holdfast.recipes.site.entities.social import social_handles
from holdfast.recipes.site.entities.source import Source, read_source
from holdfast.recipes.site.entities.structured import structured
from holdfast.recipes.site.entities.technology import technology

RULES = 4  # changed rules make other records: raise it with them
PER_TYPE_MAX = 200
PARTS: tuple[Callable[[Source], Iterator[Mention]], ...] = (
    structured, emails, phones, addresses, locations, people, organisations, products, money, dates, social_handles,
    technology,
)  # fmt: skip


class PageFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The record of one page. `count` is how many entities it has; `beyond` how many more were left out; `made_of` tells
    the bytes that it was made of from any others."""

    url: str
    type: str
    count: int
    title: str = ""
    description: str = ""
    site_name: str = ""
    lang: str = ""
    words: int = 0
    headings: tuple[str, ...] = ()
    copyright_year: str = ""
    entities: tuple[Mention, ...] = ()
    passages: tuple[Passage, ...] = ()
    beyond: int = 0
    not_parsed: str = ""
    rules: int = 0  # written always: a default that is left out would be read as whatever it is by then
    made_of: str = ""


def extract(url: str, body: bytes, content_type: str) -> PageFacts:
    source = read_source(url, body, content_type)
    found, beyond = _distinct(mention for part in PARTS for mention in part(source))
    return PageFacts(
        url=url,
        type=source.type,
        count=len(found),
        title=source.title,
        description=source.description,
        site_name=source.site_name,
        lang=source.lang,
        words=len(source.text.split()),
        headings=tuple(text for _, text in source.headings[:12]),
        copyright_year=_copyright_year(source.text),
        entities=tuple(found),
        passages=tuple(passages(source)),
        beyond=beyond,
        not_parsed=source.not_parsed,
        rules=RULES,
        made_of=made_of(body, content_type),
    )


def made_of(body: bytes, content_type: str) -> str:
    """The same for the same bytes that are read in the same way."""
    return blake2b(b"\0".join((content_type.encode("utf-8", "replace"), body)), digest_size=16).hexdigest()


def _distinct(mentions: Iterator[Mention]) -> tuple[list[Mention], int]:
    """Each value once per page: the surest rule counts, and what the others know besides is kept."""
    best: dict[tuple[str, str], Mention] = {}
    counts: dict[str, int] = {}
    beyond = 0
    for mention in mentions:
        if not mention.value or not mention.passage:
            continue
        key = (mention.type, mention.value.casefold())
        known = best.get(key)
        if known is None and counts.get(mention.type, 0) >= PER_TYPE_MAX:
            beyond += 1
        elif known is None:
            counts[mention.type] = counts.get(mention.type, 0) + 1
            best[key] = mention
        else:
            best[key] = _better(known, mention)
    return sorted(best.values(), key=lambda each: (each.type, each.at < 0, each.at, each.value)), beyond


def _better(one: Mention, other: Mention) -> Mention:
    """A passage in the text that people see is better evidence than one in the markup."""
    chosen, left = (other, one) if other.confidence > one.confidence else (one, other)
    if chosen.at < 0 <= left.at:
        chosen = msgspec.structs.replace(chosen, passage=left.passage, at=left.at)
    return msgspec.structs.replace(chosen, detail={**left.detail, **chosen.detail})


def _copyright_year(text: str) -> str:
    import re

    years = re.findall(
        r"(?:©|\(c\)|Copyright)[^\n]{0,20}?((?:19|20)\d\d)(?:\s?[-–]\s?((?:19|20)\d\d))?", text, re.IGNORECASE
    )
    return max((max(pair) for pair in years), default="")
