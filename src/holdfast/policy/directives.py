"""What a page asks of crawlers beside robots.txt: `nofollow` and `noindex`, in a robots tag or an X-Robots-Tag header.

Decides only; decision 0039 says what is made of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from holdfast.policy.robots import PRODUCT

NAMES = frozenset({"robots", PRODUCT})
OBEYED = ("pages", "all", "off")  # whose nofollow: that of pages, that of single links as well, or none
HEADER = "x-robots-tag"
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class Directives(msgspec.Struct, frozen=True, gc=False):
    """What is asked: not to follow the page's links, not to have it in an index."""

    nofollow: bool = False
    noindex: bool = False


NONE = Directives()


def read_directives(tags: Iterable[str], headers: Iterable[str]) -> Directives:
    """Of all tags and headers together: the strictest counts."""
    words = {word for tag in tags for word in tag.lower().replace(",", " ").split()}
    for header in headers:
        words |= _in_header(header.lower())
    both = "none" in words
    return Directives(nofollow=both or "nofollow" in words, noindex=both or "noindex" in words)


def _in_header(value: str) -> set[str]:
    """`nofollow`, or `somebot: nofollow`: what stands behind a crawler's name is meant for that one only."""
    words: set[str] = set()
    agent = ""
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() in _WITH_VALUES:
            continue
        if colon:
            agent = name.strip()
        if agent in ("", PRODUCT):
            words.update((rest if colon else part).split())
    return words
