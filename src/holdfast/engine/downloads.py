"""The files that one attempt at one target downloads: filled, continued from an earlier try, kept or let go of.

Whatever waits for the disk is done on a thread, so that the event loop goes on with its other pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from holdfast.errors import BadParams, FetchError
from holdfast.model.artifact import FILES_PER_TARGET_MAX, FetchedFile, Keep, check_keep
from holdfast.model.exchange import Request, Response
from holdfast.model.target import Claimed
from holdfast.ports import Files, FileSink, Keeping, PartialFile

NOT_SATISFIABLE = 416
Send = Callable[[Request, FileSink], Awaitable[Response]]


class Downloads:
    """Those of one attempt. `close` must be called at its end, however it ended."""

    def __init__(self, files: Files, claimed: Claimed) -> None:
        self._files, self._claimed = files, claimed
        self._partials: list[PartialFile] = []
        self._unused: dict[str, PartialFile] = {}  # of these, by key, what an answer without a file left as it was
        self._whole: dict[int, PartialFile] = {}  # of these, by id, what came whole and was not taken

    async def fetch(self, request: Request, send: Send, *, into: str, bytes_max: int) -> FetchedFile:
        """The answer, its body in a file. What an earlier try left is continued where the server still has it."""
        key = f"{self._claimed.id} {into or request.url.partition('?')[0]} {request.method}"
        partial = self._unused.pop(key, None) or await self._opened(key, "" if into else request.url, bytes_max)
        partial.limit(bytes_max)
        resumed_at = partial.size
        response = await self._filled(partial, request, send)
        if not 200 <= response.status < 300:
            self._unused[key] = partial  # a redirect, or an address that is over: its successor continues the file
            return FetchedFile(url=response.url, status=response.status, headers=response.headers, body=response.body)
        if partial.is_at_rest:
            partial.whole()  # the last piece, for the page cache: a thread would cost more than that
        else:
            await asyncio.to_thread(partial.settle)
        self._whole[id(partial)] = partial
        return FetchedFile(
            url=response.url,
            status=response.status,
            headers=response.headers,
            size=partial.size,
            sha256=partial.sha256,
            stored=partial,
            resumed_at=resumed_at if response.status == 206 else 0,
            let_go=partial.forget,
        )

    async def _opened(self, key: str, url: str, bytes_max: int) -> PartialFile:
        if len(self._partials) >= FILES_PER_TARGET_MAX:
            raise BadParams(f"a step may fetch {FILES_PER_TARGET_MAX} files at most")
        partial = self._files.open(key, target=self._claimed.id, url=url, bytes_max=bytes_max)
        self._partials.append(partial)
        if partial.is_left:
            await asyncio.to_thread(partial.take_up)
        return partial

    async def _filled(self, partial: PartialFile, request: Request, send: Send) -> Response:
        """A server that has another version now, or does not know the rest, is asked for all of it."""
        asked = partial.asking if request.is_plain else ()
        try:
            response = await send(_with(request, asked), partial)
            if not asked or response.status != NOT_SATISFIABLE:
                return response
        except FetchError as error:
            if not asked or error.code != "body_incomplete" or partial.size:
                raise
        await asyncio.to_thread(partial.forget)
        return await send(request, partial)

    def taken(self, wanted: Sequence[Keep]) -> tuple[Keeping, ...]:
        """The files that are to get names: no longer this attempt's, but the commit's of its target."""
        return tuple(self._taken(check_keep(keep)) for keep in wanted)

    async def close(self, *, continues: bool) -> None:
        """Let go of what was not kept. `continues`: another try may need it."""
        partials, self._partials = self._partials, []
        for partial in partials:
            await asyncio.to_thread(partial.close, keep=continues)

    def _taken(self, keep: Keep) -> Keeping:
        source = keep.source
        if isinstance(source, bytes):
            return Keeping(keep, None)
        keep = msgspec.structs.replace(keep, media=keep.media or source.media, url=keep.url or source.url)
        partial = self._whole.pop(id(source.stored), None)
        if partial is None:
            raise BadParams(f"the file of {source.url[:200]} was kept already, or belongs to another attempt")
        self._partials.remove(partial)
        return Keeping(keep, partial)


def _with(request: Request, headers: tuple[tuple[str, str], ...]) -> Request:
    return msgspec.structs.replace(request, headers=(*request.headers, *headers)) if headers else request
