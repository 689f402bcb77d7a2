"""Google images: an HTML page of 100 results, in one of two shapes.

Older: each result is a `div.rg_meta` whose text is JSON (`ou` image, `ru` page, `tu` thumbnail, `ow`, `oh`, `pt`).
Newer: the results stand in a nested array that a script hands to `AF_initDataCallback`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
from selectolax.lexbor import LexborHTMLParser

from holdfast.recipes.images.engines.answer import BROWSER, SearchAnswer, SearchRequest, ranked, text_of, unreadable
from holdfast.recipes.images.engines.json_text import loads

PAGE_SIZE = 100
NODES_MAX = 500_000
_CALLBACK = re.compile(r"AF_initDataCallback\(\{key:\s*'ds:\d+'[^\[{]{0,400}?data:", re.ASCII)
_CALLBACK_END = re.compile(r"(?:,\s*sideChannel:\s*\{[^}]*\})?\s*\}\)\s*;?\s*$", re.ASCII)


class Google(msgspec.Struct, frozen=True):
    origin: str = "https://www.google.com"
    filters: str = ""  # `tbs`, such as `isz:l`
    name: str = "google"
    page_size: int = PAGE_SIZE

    def token_request(self, query: str) -> SearchRequest | None:
        return None

    def read_token(self, body: bytes) -> str:
        raise unreadable(self.name, "no token is used")

    def request(self, query: str, offset: int, token: str = "") -> SearchRequest:
        asked = {"q": query, "tbm": "isch", "ijn": offset // PAGE_SIZE, "start": offset, "tbs": self.filters}
        return SearchRequest(f"{self.origin}/search?{urlencode(asked)}", {"User-Agent": BROWSER})

    def read(self, body: bytes, offset: int) -> SearchAnswer:
        text = text_of(self.name, body)
        tree = LexborHTMLParser(text)
        try:
            is_older = tree.css_first("#rg_s, div.rg_meta") is not None
            found = list(_older(tree) if is_older else _newer(tree))
        except ValueError as error:
            raise unreadable(self.name, str(error)) from None
        return ranked(self.name, found, offset=offset, page_size=PAGE_SIZE)


def _older(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    nodes = tree.css("div.rg_meta")
    if not nodes and tree.css_first("#rg_s img, #rg_s a") is not None:
        raise ValueError("pictures in #rg_s, but no div.rg_meta")
    for node in nodes:
        meta = loads(node.text())
        if not isinstance(meta, dict) or "ou" not in meta:
            raise ValueError("a div.rg_meta without an image URL")
        yield {
            "url": meta["ou"],
            "source_page": meta.get("ru"),
            "thumbnail": meta.get("tu"),
            "width": meta.get("ow"),
            "height": meta.get("oh"),
            "title": meta.get("pt"),
        }


def _newer(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    arrays = [array for node in tree.css("script") for array in _arrays(node.text())]
    if not arrays:
        raise ValueError("neither div.rg_meta nor AF_initDataCallback in the page")
    entries = list(_entries(arrays))
    if not entries and any('"http' in node.text() for node in tree.css("script")):
        raise ValueError("URLs in the script arrays, but no pair of thumbnail and image")
    for entry in entries:
        thumbnail, image, more = entry[2], entry[3], _page_of(entry)
        yield {
            "url": image[0],
            "height": image[1],
            "width": image[2],
            "thumbnail": thumbnail[0],
            "source_page": more[2] if len(more) > 2 else None,
            "title": more[3] if len(more) > 3 else None,
        }


def _arrays(script: str) -> Iterator[Any]:
    begin = _CALLBACK.search(script)
    if begin:
        yield loads(_CALLBACK_END.sub("", script[begin.end() :].rstrip()))


def _entries(array: Any) -> Iterator[list[Any]]:
    """Every list `[?, id, [thumbnail, h, w], [image, h, w], …]` in document order, without recursion."""
    ahead, seen = [array], 0
    while ahead:
        node = ahead.pop()
        seen += 1
        if seen > NODES_MAX:
            raise ValueError(f"more than {NODES_MAX} parts in a script array")
        if isinstance(node, dict):
            ahead.extend(reversed(node.values()))
        elif isinstance(node, list):
            if len(node) > 3 and isinstance(node[1], str) and _is_picture(node[2]) and _is_picture(node[3]):
                yield node
            else:
                ahead.extend(reversed(node))


def _is_picture(node: Any) -> bool:
    return isinstance(node, list) and len(node) == 3 and isinstance(node[0], str) and node[0].startswith("http")


def _page_of(entry: list[Any]) -> list[Any]:
    for part in entry[4:]:
        if isinstance(part, dict) and isinstance(part.get("2003"), list):
            about: list[Any] = part["2003"]
            return about
    return []
