"""Baidu images: JSON, 30 results. `objURL` is written in substituted letters, `hoverURL` (a smaller copy) plainly.

The last element of `data` is empty, and escapes that JSON does not know occur; both are how Baidu answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec

from holdfast.recipes.images.engines.answer import (
    BROWSER,
    SearchAnswer,
    SearchRequest,
    ranked,
    text_of,
    unreadable,
    usable_url,
)
from holdfast.recipes.images.engines.json_text import loads_leniently

PAGE_SIZE = 30
_SEQUENCES = (("_z2C$q", ":"), ("_z&e3B", "."), ("AzdH3F", "/"))
_LETTERS = str.maketrans("wkv1ju2it3hs4g5rq6fp7eo8dn9cm0bla", "abcdefghijklmnopqrstuvw1234567890")


class Baidu(msgspec.Struct, frozen=True):
    origin: str = "https://image.baidu.com"
    name: str = "baidu"
    page_size: int = PAGE_SIZE

    def token_request(self, query: str) -> SearchRequest | None:
        return None

    def read_token(self, body: bytes) -> str:
        raise unreadable(self.name, "no token is used")

    def request(self, query: str, offset: int, token: str = "") -> SearchRequest:
        asked = urlencode({"tn": "resultjson_com", "ipn": "rj", "word": query, "pn": offset, "rn": PAGE_SIZE})
        return SearchRequest(f"{self.origin}/search/acjson?{asked}", {"User-Agent": BROWSER, "Referer": self.origin})

    def read(self, body: bytes, offset: int) -> SearchAnswer:
        try:
            answer = loads_leniently(text_of(self.name, body))
        except ValueError as error:
            raise unreadable(self.name, f"no JSON: {error}") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
            raise unreadable(self.name, "no list `data` in the answer")
        try:
            found = list(_entries(answer["data"]))
            if not found and _total(answer) > offset:
                raise ValueError(f"no results at {offset}, although there are {_total(answer)}")
        except ValueError as error:
            raise unreadable(self.name, str(error)) from None
        return ranked(self.name, found, offset=offset, page_size=PAGE_SIZE)


def plain(coded: str) -> str:
    """The URL behind an `objURL`; one that is written plainly stays as it is."""
    if coded.startswith(("http://", "https://")):
        return coded
    for sequence, letter in _SEQUENCES:
        coded = coded.replace(sequence, letter)
    return coded.translate(_LETTERS)


def _entries(data: list[Any]) -> Iterator[dict[str, Any]]:
    for place, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise ValueError("an element of `data` is not an object")
        if not entry and place == len(data) - 1:
            return
        coded = entry.get("objURL")
        image = usable_url(plain(coded)) if isinstance(coded, str) else ""
        yield {
            "url": image or entry.get("hoverURL"),
            "thumbnail": entry.get("thumbURL"),
            "source_page": _source(entry.get("fromURL")),
            "width": entry.get("width"),
            "height": entry.get("height"),
            "title": entry.get("fromPageTitle"),
        }


def _total(answer: dict[str, Any]) -> int:
    total = answer.get("listNum")
    return total if isinstance(total, int) else 0


def _source(coded: object) -> str:
    return plain(coded) if isinstance(coded, str) else ""
