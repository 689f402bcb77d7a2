"""What a search engine is to an images job: a question becomes a request, an answer becomes ranked candidates.

Engines are pure. They send nothing, keep nothing and see bytes only. An answer that is not exactly what the engine is
known to send raises `FetchError("answer_unreadable")`; only a page that says itself that it has no results is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from holdfast.errors import FetchError

URL_CHARACTERS_MAX = 2_083
TEXT_CHARACTERS_MAX = 500
CANDIDATES_MAX = 1_000  # of one answer; an engine sends 100 at most
ANSWER_BYTES_MAX = 8 * 1024 * 1024
_UNWRITABLE = re.compile("[\x00-\x20\x7f\ud800-\udfff]")
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"


class SearchRequest(msgspec.Struct, frozen=True):
    """A GET. `headers` are those the engine needs to answer in the shape that its module reads."""

    url: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Candidate(msgspec.Struct, frozen=True):
    """One image that an engine names. `rank` counts from 0 in its answer; sizes are the engine's word, not measured."""

    url: str
    rank: int
    source_page: str = ""
    thumbnail: str = ""
    width: int | None = None
    height: int | None = None
    title: str = ""


class SearchAnswer(msgspec.Struct, frozen=True):
    """`left_out` counts entries without a usable URL. `next_offset` is None where the engine has no more."""

    candidates: tuple[Candidate, ...]
    next_offset: int | None
    left_out: int = 0

    @property
    def ends_variation(self) -> bool:
        """No later offset of this query has anything: the planned questions for them need not be asked."""
        return self.next_offset is None


class Engine(Protocol):
    """One engine. `offset` counts results from 0, whatever the engine's own numbering is."""

    @property
    def name(self) -> str: ...

    @property
    def page_size(self) -> int: ...

    def token_request(self, query: str) -> SearchRequest | None:
        """The request that must come first; None for an engine that needs none."""
        ...

    def read_token(self, body: bytes) -> str:
        """The token in the answer to `token_request`; FetchError `answer_unreadable` where there is none."""
        ...

    def request(self, query: str, offset: int, token: str = "") -> SearchRequest: ...

    def read(self, body: bytes, offset: int) -> SearchAnswer:
        """The candidates of an answer of status 200; FetchError `answer_unreadable` for anything unexpected.

        403 from an engine with a token means that the token is stale: ask for a new one, then for the same page.
        """
        ...


def unreadable(engine: str, why: str) -> FetchError:
    return FetchError("answer_unreadable", f"{engine}: {why}")


def text_of(engine: str, body: bytes) -> str:
    """The answer as text. Damaged characters are replaced: they may stand in a title, and a URL is judged apart."""
    if len(body) > ANSWER_BYTES_MAX:
        raise unreadable(engine, f"the answer has {len(body)} bytes, more than {ANSWER_BYTES_MAX}")
    if not body.strip():
        raise unreadable(engine, "the answer is empty")
    return body.decode("utf-8", "replace")


def ranked(engine: str, found: Iterable[Mapping[str, Any]], *, offset: int, page_size: int) -> SearchAnswer:
    """Candidates in the engine's order, each URL once. Entries but no usable URL among them is not an empty page."""
    kept: dict[str, Candidate] = {}
    entries = left_out = 0
    for entry in found:
        entries += 1
        if entries > CANDIDATES_MAX:
            raise unreadable(engine, f"more than {CANDIDATES_MAX} results in one answer")
        url = usable_url(entry.get("url"))
        if not url:
            left_out += 1
        elif url not in kept:
            kept[url] = _candidate(url, entries - 1, entry)
    if entries and not kept:
        raise unreadable(engine, f"none of {entries} results has a usable URL")
    return SearchAnswer(tuple(kept.values()), offset + page_size if entries else None, left_out)


def usable_url(value: object) -> str:
    """An absolute http(s) URL without blanks or control characters, else ''."""
    if not isinstance(value, str) or not 10 <= len(value) <= URL_CHARACTERS_MAX:
        return ""
    if _UNWRITABLE.search(value):
        return ""
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises where it is not a number
    except ValueError:
        return ""
    return value if parts.scheme in ("http", "https") and parts.hostname else ""


def _candidate(url: str, rank: int, entry: Mapping[str, Any]) -> Candidate:
    return Candidate(
        url=url,
        rank=rank,
        source_page=usable_url(entry.get("source_page")),
        thumbnail=usable_url(entry.get("thumbnail")),
        width=_side(entry.get("width")),
        height=_side(entry.get("height")),
        title=_text(entry.get("title")),
    )


def _side(value: object) -> int | None:
    """A length in pixels; engines send numbers and digits in quotes."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 8:
        value = int(value)
    return value if type(value) is int and 0 < value < 10_000_000 else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    plain = "".join(letter if letter.isprintable() else " " for letter in value[:TEXT_CHARACTERS_MAX])
    return " ".join(plain.split())
