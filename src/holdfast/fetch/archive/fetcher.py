"""A fetcher whose web is an archive: every answer comes from WARC files, and no connection is ever made."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from holdfast.errors import BadParams, FetchError
from holdfast.fetch.archive.answers import as_received, read_body, read_head
from holdfast.model.exchange import ArchivedAnswer, Budget, Request, Response
from holdfast.ports import FileSink, WebArchive

NOT_ARCHIVED = "not_archived"
MISSING = 404
# Files that are asked for without being named anywhere: an archive without them is a site without them.
GUESSED = ("/robots.txt", "/sitemap.xml")


class ArchiveFetcher:
    """Fulfils ports.Fetcher. FetchError `not_archived`: there is no answer for that in the archive."""

    def __init__(self, archive: WebArchive, budget: Budget) -> None:
        self._archive, self._budget = archive, budget

    async def fetch(self, request: Request) -> Response:
        if not request.is_plain:
            raise FetchError(NOT_ARCHIVED, f"an archive answers GET only, not {request.method}")
        return await asyncio.to_thread(self._read, request.url)

    async def download(self, request: Request, sink: FileSink) -> Response:
        raise BadParams("an archive gives pages, not files of their own")

    async def close(self) -> None:
        self._archive.close()

    def _read(self, url: str) -> Response:
        budget = self._budget
        found = self._archive.find(url, budget.body_bytes_max + budget.header_bytes_max)
        if found is not None:
            return self._response(url, found)
        if urlsplit(url).path in GUESSED:
            return Response(url=url, status=MISSING, headers=(), body=b"")
        raise FetchError(NOT_ARCHIVED, "the archive has no answer for this URL")

    def _response(self, url: str, found: ArchivedAnswer) -> Response:
        if found.cut:
            raise FetchError("body_incomplete", f"only a part was archived (WARC-Truncated: {found.cut[:40]})")
        status, headers, raw = read_head(found.block or found.first, self._budget)
        if found.first:
            raw = read_head(found.first, self._budget)[2]
        body, encoding = read_body(headers, raw, self._budget)
        headers = as_received(headers)
        return Response(url=url, status=status, headers=headers, body=body, encoding=encoding, answered_at=found.at)
