"""From a parsed page to its main content as Markdown (GFM) and as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.recipes.site.markdown.addresses import Addresses
from holdfast.recipes.site.markdown.blocks import Block, BlockWriter, joined
from holdfast.recipes.site.markdown.plain import plain_text
from holdfast.recipes.site.markdown.selection import main_content
from holdfast.recipes.site.markdown.tree import Node

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


RULE = ["---"]


class Content(NamedTuple):
    """The main content of a page."""

    markdown: str
    text: str


def content_of(parser: LexborHTMLParser, url: str) -> Content:
    """The main content of a page that was found at `url`. The same page gives the same text, byte for byte."""
    base = parser.css_first("base[href]")
    addresses = Addresses(url, (base.attributes.get("href") or "") if base is not None else "")
    best, title = main_content(parser)
    page = Node("body", {}, None)
    page.children = [best] if title is None else [title, best]
    lines = joined(_without_rules_at_ends(BlockWriter(addresses).within(page)))
    return Content("\n".join(lines) + "\n" if lines else "", plain_text(page))


def _without_rules_at_ends(blocks: list[Block]) -> list[Block]:
    """A rule parts what is above it from what is below: at an end there is nothing to part."""
    start, end = 0, len(blocks)
    while start < end and blocks[start] == RULE:
        start += 1
    while end > start and blocks[end - 1] == RULE:
        end -= 1
    return blocks[start:end]
