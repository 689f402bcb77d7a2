"""Bing images: an HTML page of 35 results, in one of two shapes.

Newer: `a.iusc` whose attribute `m` is JSON (`murl` image, `turl` thumbnail, `purl` page, `t` title).
Older: `div.dg_u a` whose attribute `m` is a script object with bare keys (`imgurl:"…",surl:"…"`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from holdfast.recipes.images.engines.answer import BROWSER, SearchAnswer, SearchRequest, ranked, text_of, unreadable
from holdfast.recipes.images.engines.json_text import loads

PAGE_SIZE = 35
_FIELD = re.compile(r'([a-z]+):"([^"]*)"', re.ASCII)
_KNOWN = "div.dg_u, a.iusc, .dgControl, #dg_c, .no_results"
_PICTURES = ".dgControl img, #dg_c img"


class Bing(msgspec.Struct, frozen=True):
    origin: str = "https://www.bing.com"
    name: str = "bing"
    page_size: int = PAGE_SIZE

    def token_request(self, query: str) -> SearchRequest | None:
        return None

    def read_token(self, body: bytes) -> str:
        raise unreadable(self.name, "no token is used")

    def request(self, query: str, offset: int, token: str = "") -> SearchRequest:
        asked = urlencode({"q": query, "count": PAGE_SIZE, "first": offset})
        return SearchRequest(f"{self.origin}/images/search?{asked}", {"User-Agent": BROWSER})

    def read(self, body: bytes, offset: int) -> SearchAnswer:
        tree = LexborHTMLParser(text_of(self.name, body))
        if tree.css_first(_KNOWN) is None:
            raise unreadable(self.name, "neither a.iusc nor div.dg_u in the page")
        try:
            found = [*_newer(tree.css("a.iusc")), *_older(tree.css("div.dg_u a"))]
            if not found and tree.css_first(_PICTURES) is not None:
                raise ValueError("pictures in the page, but neither a.iusc nor div.dg_u")
        except ValueError as error:
            raise unreadable(self.name, str(error)) from None
        return ranked(self.name, found, offset=offset, page_size=PAGE_SIZE)


def _newer(links: list[LexborNode]) -> Iterator[dict[str, Any]]:
    for link in links:
        about = loads(link.attributes.get("m") or "")
        if not isinstance(about, dict) or "murl" not in about:
            raise ValueError("an a.iusc without an image URL")
        yield {
            "url": about["murl"],
            "thumbnail": about.get("turl"),
            "source_page": about.get("purl"),
            "title": about.get("t"),
        }


def _older(links: list[LexborNode]) -> Iterator[dict[str, Any]]:
    for link in links:
        about = dict(_FIELD.findall(link.attributes.get("m") or ""))
        if "imgurl" not in about:
            raise ValueError("a div.dg_u without an image URL")
        yield {
            "url": about["imgurl"],
            "thumbnail": about.get("turl"),
            "source_page": about.get("surl"),
            "title": link.attributes.get("t1"),
        }
