"""Products by where their names stand: the page of a product, and links that lead to such pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

_PAGE_OF_ONE = re.compile(
    r"/(?:products?|shop|store|catalog(?:ue)?|solutions)/(?:[\w-]+/)?([\w-]{2,80})(?:\.html?)?/?", re.IGNORECASE
)
_NO_PRODUCT = re.compile(
    r"(?:read|learn|view|see|find|show|discover|buy|order|shop|browse|compare|try|get|all|our|more|everything|back|next|previous|"
    r"details?|products?|overview|features|pricing|plans|contact|request|download|home)\b.*",
    re.IGNORECASE,
)
NAME_LENGTH_MAX = 80
_WORDS = re.compile(r"[^\W_]{3,}")


def products(source: Source) -> Iterator[Mention]:
    if is_product_page(source.url):
        for heading in [text for level, text in source.headings if level == 1][:1]:
            if is_product_name(heading):
                place = source.locate(heading)
                yield Mention("product", heading, heading, place.passage, place.at, "product page", 0.85)
    for link in source.links:
        target = urljoin(source.url, link.href) if not link.href.startswith("#") else ""
        is_ours = urlsplit(target).netloc == urlsplit(source.url).netloc
        if is_ours and is_product_page(target) and is_product_name(link.text) and is_named_by(link.text, target):
            place = source.locate(link.text)
            yield Mention("product", link.text, link.text, place.passage, place.at, "product link", 0.75)


def is_product_page(url: str) -> bool:
    return _PAGE_OF_ONE.fullmatch(urlsplit(url).path) is not None


def is_named_by(text: str, url: str) -> bool:
    """Whether the address has a word of the text: `/products/heron-gauge` is `Heron gauge`, and not `Technical data`."""
    said, named = (
        set(_WORDS.findall(each.lower())) for each in (text, urlsplit(url).path.rstrip("/").rpartition("/")[2])
    )
    return bool(said & named)


def is_product_name(text: str) -> bool:
    return (
        1 < len(text) <= NAME_LENGTH_MAX and text[:1].isupper() and ":" not in text and not _NO_PRODUCT.fullmatch(text)
    )
