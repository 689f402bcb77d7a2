"""`<meta http-equiv=refresh>` and the `Refresh` header: after how many seconds a page gives way to which URL.

Read by the shared declarative refresh steps of the HTML standard: quotes, `URL =` and a comma for a semicolon are all
allowed, and without `url=` the rest is the URL.
"""

from __future__ import annotations

import re

import msgspec

QUICK_S = 10  # so soon, a refresh is how a redirect is written; later, the page is there to be read
_SECONDS_MAX = 10**9
_VALUE = re.compile(
    r"[\t\n\f\r ]*+(?:([0-9]++)|(?=\.))[0-9.]*+(?:(?=[;,\t\n\f\r ])[\t\n\f\r ]*+[;,]?+[\t\n\f\r ]*+(.*+))?+", re.DOTALL
)
_NAMED = re.compile(r"[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+")


class Refresh(msgspec.Struct, frozen=True, gc=False):
    """`url` is as written, and empty where the page only loads itself again."""

    seconds: int
    url: str

    @property
    def is_quick(self) -> bool:
        return self.seconds <= QUICK_S


def read_refresh(value: str) -> Refresh | None:
    """None where the value says nothing that a browser would act on."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    digits = (match[1] or "").lstrip("0")
    seconds = int(digits or "0") if len(digits) < 10 else _SECONDS_MAX
    rest = match[2] or ""
    named = _NAMED.match(rest)
    url = rest[named.end() :] if named else rest
    if url[:1] in ("'", '"') and url:
        url = url[1:].partition(url[0])[0]
    return Refresh(seconds, url.strip())
