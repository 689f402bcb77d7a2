"""One entity as it stands on one page, and the same entity over all pages. Values only."""

from __future__ import annotations

import msgspec

TYPES = (
    "person", "org", "location", "product", "date", "money", "email", "phone", "address", "social_handle", "tech_stack",
)  # fmt: skip
MARKUP = -1  # the place of what stands in a tag or in structured data, not in the visible text


class Mention(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """`value` is normalised, `shown` is how it is written. `passage` is a piece of the page, letter by letter: of its
    visible text from character `at` on, or of its markup (`at` is MARKUP). `how` is the rule that found it."""

    type: str
    value: str
    shown: str
    passage: str
    at: int
    how: str
    confidence: float
    detail: dict[str, str] = {}


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where something stands in a page."""

    passage: str
    at: int


class PageMention(msgspec.Struct, frozen=True, gc=False):
    """One page that an entity stands on."""

    url: str
    passage: str
    at: int
    how: str


class Entity(msgspec.Struct, frozen=True, gc=False):
    """An entity over all pages. `count` is how many pages name it; `sources` has the best of them first."""

    type: str
    value: str
    confidence: float
    count: int
    sources: tuple[PageMention, ...]
    detail: dict[str, str] = {}
    names: tuple[str, ...] = ()  # other spellings
