"""One HTTP exchange as values: what is asked, what came back."""

from __future__ import annotations

import msgspec

Headers = tuple[tuple[str, str], ...]
NOT_MODIFIED = 304


class Request(msgspec.Struct, frozen=True, gc=False):
    """A GET of a canonical URL."""

    url: str
    headers: Headers = ()


class Response(msgspec.Struct, frozen=True, kw_only=True, weakref=True):
    """A complete answer with its body decoded. Header names are lower-case, in the order received."""

    url: str
    status: int
    headers: Headers
    body: bytes
    encoding: str = ""  # the Content-Encoding that was undone
    address: str = ""
    elapsed_ms: int = 0

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def media(self) -> str:
        """The media type without parameters, lower-case; empty where none was declared."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


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
