"""Tokens, the only identity of a document in a list. One normalisation for all of Holdfast: changing it is a migration.

The `Actions` cell of a list may hold a bare token, an HTML link, percent escapes, entities, non-breaking spaces,
several tokens, or nothing.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

import msgspec

TOKENS_PER_CELL_MAX = 50
TOKEN_CHARS_MIN, TOKEN_CHARS_MAX = 4, 300
_NOT_IN_TOKEN = re.compile(r"[^A-Z0-9]+")
_ELEMENT = re.compile(r"<[^<>]*>")
_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_ATTRIBUTE = re.compile(r"""(?<![\w-])(data-dl|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_HAS_DIGIT = re.compile(r"[0-9]")
_SEPARATORS = re.compile(r"[\s|,;/\\]+")
_FILE_ENDING = re.compile(r"\.(?:pdf|docx?|rtf)$", re.IGNORECASE)
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f\u3000", " ") | dict.fromkeys("\u200b\u2060\ufeff", ""))


class Token(msgspec.Struct, frozen=True):
    """`raw` is what the site is asked with, as the list spells it; `norm` is who the document is."""

    raw: str
    norm: str


def normalise(token: str) -> str:
    """DOC-07: decoded, trimmed, upper-case, and nothing but A-Z and 0-9. Empty: no token."""
    return _NOT_IN_TOKEN.sub("", _plain(token).upper())


def tokens_in(cell: str) -> tuple[Token, ...]:
    """Every token of a cell, in order, each once; none where the row has no file.

    A token has a digit in it (its cause, year and date) and four characters. So `n/a`, `-` and `Download 2` are none.
    """
    found: dict[str, Token] = {}
    for part in _parts(cell):
        norm = normalise(part)
        if _is_token(norm) and len(found) < TOKENS_PER_CELL_MAX:
            found.setdefault(norm, Token(_plain(part).strip(), norm))
    return tuple(found.values())


def _is_token(norm: str) -> bool:
    return TOKEN_CHARS_MIN <= len(norm) <= TOKEN_CHARS_MAX and _HAS_DIGIT.search(norm) is not None


def _parts(cell: str) -> list[str]:
    """The pieces that may be tokens. In markup the attributes say more than the text ("Download") does."""
    text = cell if "<" in cell else _plain(cell)
    if "<" not in text:
        return _SEPARATORS.split(text)
    named = [part for tag in _TAG.findall(text) for part in _named_in(tag) if _is_token(normalise(part))]
    return named or _SEPARATORS.split(_plain(_ELEMENT.sub(" ", text)))


def _named_in(tag: str) -> list[str]:
    """What a tag names: its `data-dl`, else the last part of the address it links to."""
    attributes = {match[1].lower(): match[2] or match[3] or match[4] or "" for match in _ATTRIBUTE.finditer(tag)}
    if attributes.get("data-dl"):
        return _SEPARATORS.split(_plain(attributes["data-dl"]))
    address = html.unescape(attributes.get("href", "")).strip()
    if address.lower().startswith(("javascript:", "mailto:")):
        return []
    query = re.search(r"[?&](?:fname|fid|token|file)=([^&#]*)", address)
    last = query[1] if query else re.split(r"[?#]", address)[0].rstrip("/").rpartition("/")[2] or address.lstrip("#")
    return [_FILE_ENDING.sub("", _plain(last))]


def _plain(text: str) -> str:
    """Entities and percent escapes decoded, odd spaces made plain ones."""
    return unquote(html.unescape(text), errors="replace").translate(_SPACES)
