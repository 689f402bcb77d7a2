"""The query of a link as its page's charset spells it: on a page in windows-1251 `?q=тест` asks for `%F2%E5%F1%F2`.

The URL standard encodes the query, and only the query, in the encoding of the document. What that cannot spell becomes
a character reference, as in forms. UTF-8 and UTF-16 pages need none of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.recipes.site.charset import USER_DEFINED

_OF_UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be", USER_DEFINED})
_HIGH = re.compile(r"[^\x00-\x7f]+")
_ESCAPED = frozenset({*range(0x21), *range(0x7F, 0x100), *b"\"#<>'"})


def in_charset(hrefs: Iterable[str], codec: str) -> Iterable[str]:
    """The same hrefs; queries that are not ASCII are encoded where the page's codec decides how."""
    if codec in _OF_UNICODE:
        return hrefs
    return [href if href.isascii() else _encoded(href, codec) for href in hrefs]


def _encoded(href: str, codec: str) -> str:
    before, mark, fragment = href.partition("#")
    path, question, query = before.partition("?")
    return path + question + _HIGH.sub(lambda run: _spelled(run[0], codec), query) + mark + fragment


def _spelled(text: str, codec: str) -> str:
    return "".join(_bytes_of(char, codec) for char in text) if codec != "iso-2022-jp" else _bytes_of(text, codec)


def _bytes_of(text: str, codec: str) -> str:
    try:
        raw = text.encode(codec)
    except UnicodeEncodeError:
        return "".join(f"%26%23{ord(char)}%3B" for char in text)
    return "".join(f"%{byte:02X}" if byte in _ESCAPED else chr(byte) for byte in raw)
