"""One HTTP exchange as values: what is asked, what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from holdfast.model.keys import origin_of, origins_of

Headers = tuple[tuple[str, str], ...]
NOT_MODIFIED = 304
SEE_OTHER = 303
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# They say what we can read or want, and nothing of who we are: sent to every host.
HARMLESS_HEADERS = frozenset(
    {
        "accept", "accept-charset", "accept-language", "cache-control", "dnt", "from", "pragma", "sec-gpc",
        "upgrade-insecure-requests",
    }
)  # fmt: skip
# Besides them a request has these wherever it is led, and those of its body: which version is known already.
_CONDITIONS = frozenset({"if-modified-since", "if-none-match"})
_OF_BODY = "content-"


GET, POST = "GET", "POST"
METHODS = (GET, POST, "PUT", "PATCH", "DELETE", "HEAD")
HTTP = "http"  # the name of the fetcher that every job has
BROWSER = "browser"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


class Request(msgspec.Struct, frozen=True, gc=False):
    """What is asked for: a GET of a canonical URL, unless it says otherwise. `by` names the fetcher that sends it."""

    url: str
    headers: Headers = ()
    method: str = GET
    body: bytes = b""
    by: str = HTTP

    @property
    def is_plain(self) -> bool:
        """A GET without a body: it may be repeated without a second thought."""
        return self.method == GET and not self.body

    @classmethod
    def form(cls, url: str, fields: Mapping[str, str] | Sequence[tuple[str, str]], headers: Headers = ()) -> Request:
        """A form as a browser posts it."""
        return cls(url, (("Content-Type", FORM), *headers), POST, urlencode(fields).encode("ascii"))

    @classmethod
    def json(cls, url: str, value: Any, headers: Headers = ()) -> Request:
        """A value posted as JSON."""
        return cls(url, (("Content-Type", JSON), *headers), POST, msgspec.json.encode(value))

    def redirected(self, url: str, status: int) -> Request:
        """What is asked of the URL that an answer with this status leads to (RFC 9110, 15.4): 303 always means a GET,
        301 and 302 do where a form was posted, 307 and 308 repeat the request as it was. Another origin than the one
        that was asked gets no header that may say who we are."""
        to_get = (status == SEE_OTHER and self.method != "HEAD") or (status in (301, 302) and self.method == POST)
        kept = self.headers
        if origin_of(url) not in origins_of(self.url):
            kept = tuple(header for header in kept if _is_for_all(header[0].lower()))
        if not to_get:
            return msgspec.structs.replace(self, url=url, headers=kept)
        kept = tuple((name, value) for name, value in kept if not name.lower().startswith(_OF_BODY))
        return Request(url, kept, by=self.by)


def _is_for_all(name: str) -> bool:
    return name in HARMLESS_HEADERS or name in _CONDITIONS or name.startswith(_OF_BODY)


class Response(msgspec.Struct, frozen=True, kw_only=True, weakref=True):
    """A complete answer with its body decoded. Header names are lower-case, in the order received."""

    url: str
    status: int
    headers: Headers
    body: bytes
    encoding: str = ""  # the Content-Encoding that was undone
    address: str = ""
    elapsed_ms: int = 0
    answered_at: int = 0  # wall ms, where the answer was not given just now

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    def first(self) -> dict[str, str]:
        """The first header of each name: for callers that ask for several."""
        return dict(reversed(self.headers))

    @property
    def media(self) -> str:
        """The media type without parameters, lower-case; empty where none was declared."""
        return media_of(self.header("content-type") or "")

    @property
    def last_modified(self) -> str:
        return last_modified_of(self.first())


def media_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def last_modified_of(headers: Mapping[str, str]) -> str:
    """Empty where it cannot tell two versions apart: it counts in seconds, so that something which changes twice
    within the second of the answer would be called unchanged for ever (RFC 9110, 8.8.2.2)."""
    then = headers.get("last-modified", "")
    return "" if then == headers.get("date") else then


class ArchivedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as a WARC record has it: the HTTP message of `block`. Of a revisit the content is that of `first`, an
    earlier answer, and `block` may be empty. `cut` says why a part is missing."""

    at: int  # wall ms
    block: bytes
    first: bytes = b""
    cut: str = ""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The four deadlines and the byte budgets of one exchange."""

    connect_s: float = 10.0
    first_byte_s: float = 30.0
    idle_s: float = 20.0
    total_s: float = 60.0
    body_bytes_max: int = 50_000_000
    ratio_max: int = 100
    ratio_from_bytes: int = 1_000_000
    header_bytes_max: int = 262_144
    encodings_max: int = 2

    @property
    def members_max(self) -> int:
        """Gzip members or zstd frames: 50 MB in blocks of 64 kB are 800, and a larger body may have more."""
        return max(4_000, self.body_bytes_max // 16_384)
