"""Headers typed for a job: they are sent only to the origins that the job was given (H5, SEC-08)."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.fetch.http.headers import header_lines
from holdfast.model.exchange import Headers
from holdfast.model.keys import origins_of


class PrivateHeaders:
    """Which headers go to which origin."""

    def __init__(self, headers: Headers, home: Iterable[str]) -> None:
        header_lines(headers)
        self._headers = headers
        self.origins = frozenset(origin for url in home for origin in origins_of(url))

    def of(self, origin: str) -> Headers:
        """Those for a request to `origin`."""
        return self._headers if origin in self.origins else ()

    def __bool__(self) -> bool:
        return bool(self._headers)
