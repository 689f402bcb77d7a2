"""DuckDuckGo images: a page gives the token `vqd`, with which JSON of 100 results is asked for.

A token grows stale: then the answer is 403, and the same page is asked again with a new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from holdfast.recipes.images.engines.answer import BROWSER, SearchAnswer, SearchRequest, ranked, text_of, unreadable
from holdfast.recipes.images.engines.json_text import loads

PAGE_SIZE = 100
_TOKEN = re.compile(r"vqd=[\"']?([0-9a-zA-Z-]{3,200})", re.ASCII)


class DuckDuckGo(msgspec.Struct, frozen=True):
    origin: str = "https://duckduckgo.com"
    name: str = "duckduckgo"
    page_size: int = PAGE_SIZE

    def token_request(self, query: str) -> SearchRequest | None:
        asked = urlencode({"q": query, "iax": "images", "ia": "images"})
        return SearchRequest(f"{self.origin}/?{asked}", {"User-Agent": BROWSER})

    def read_token(self, body: bytes) -> str:
        token = _TOKEN.search(text_of(self.name, body))
        if token is None:
            raise unreadable(self.name, "no token `vqd` in the page")
        return token[1]

    def request(self, query: str, offset: int, token: str = "") -> SearchRequest:
        asked = {"l": "wt-wt", "o": "json", "q": query, "vqd": token, "f": ",,,", "p": 1, "s": offset}
        headers = {"User-Agent": BROWSER, "Referer": f"{self.origin}/"}
        return SearchRequest(f"{self.origin}/i.js?{urlencode(asked)}", headers)

    def read(self, body: bytes, offset: int) -> SearchAnswer:
        try:
            answer = loads(text_of(self.name, body))
        except ValueError as error:
            raise unreadable(self.name, f"no JSON: {error}") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
            raise unreadable(self.name, "no list `results` in the answer")
        try:
            found = list(_entries(answer["results"]))
            if not found and answer.get("next"):
                raise ValueError("no results, although there is a next page")
        except ValueError as error:
            raise unreadable(self.name, str(error)) from None
        read = ranked(self.name, found, offset=offset, page_size=PAGE_SIZE)
        return SearchAnswer(read.candidates, _next(answer, offset), read.left_out)


def _entries(results: list[Any]) -> Iterator[dict[str, Any]]:
    for entry in results:
        if not isinstance(entry, dict):
            raise ValueError("an element of `results` is not an object")
        yield {
            "url": entry.get("image"),
            "thumbnail": entry.get("thumbnail"),
            "source_page": entry.get("url"),
            "width": entry.get("width"),
            "height": entry.get("height"),
            "title": entry.get("title"),
        }


def _next(answer: dict[str, Any], offset: int) -> int | None:
    """The offset that `next` names. It only ever grows, so that no answer can lead us in a circle."""
    following = answer.get("next")
    if not isinstance(following, str) or not answer["results"]:
        return None
    try:
        named = parse_qs(urlsplit(following).query).get("s", [""])[0]
    except ValueError:
        return None
    return int(named) if named.isascii() and named.isdigit() and offset < int(named[:9]) else None
