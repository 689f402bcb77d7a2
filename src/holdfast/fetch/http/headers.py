"""Header fields on their way out and in. Values stay as they were sent: nothing here interprets them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.errors import BadParams
from holdfast.fetch.http.decode import ACCEPTED
from holdfast.model.exchange import Headers

LINE_KEPT_MAX = 200
LINES_KEPT = 256

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


def parse_headers(lines: Iterable[bytes]) -> Headers:
    """Fields of the last header block: what came before it was 1xx, what comes after it are trailers."""
    fields: list[tuple[str, str]] = []
    inside = False
    for line in lines:
        if not inside:
            if line.startswith(b"HTTP/"):
                inside = True
                fields.clear()
            continue
        field = _field(line) if len(line) <= LINE_KEPT_MAX else _read_field(line)
        if field is not None:
            fields.append(field)
        elif not line.strip():
            inside = False
    return tuple(fields)


def _read_field(line: bytes) -> tuple[str, str] | None:
    name, colon, value = line.decode("latin-1").partition(":")
    return (name.strip().lower(), value.strip()) if colon else None


# Half of the lines of an answer are those of the answer before.
_field = lru_cache(LINES_KEPT)(_read_field)


def header_lines(headers: Iterable[tuple[str, str]]) -> list[str]:
    """Request headers in libcurl's words. A line break in one is refused, so that it cannot become two (H6).

    A value may be a secret, so it is not repeated.
    """
    lines = []
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise BadParams(
                f"the header {name!r} cannot be sent: its name or value has characters that no header may have"
            )
        lines.append(f"{name}: {value}" if value.strip() else f"{name};")
    return lines


def sent_lines(lines: Iterable[str]) -> list[str]:
    """Lines in libcurl's words as they are sent: `Name;` is its way to say that the value is empty."""
    return [line if ":" in line else f"{line.removesuffix(';')}:" for line in lines]


def common_headers(user_agent: str, headers: Headers) -> list[str]:
    """What every request carries."""
    return header_lines((("User-Agent", user_agent), ("Accept-Encoding", ACCEPTED), *headers))
