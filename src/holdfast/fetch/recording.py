"""A fetcher that has every exchange of another one kept. What is kept is what the step is given, failures included."""

from __future__ import annotations

import asyncio

import msgspec

from holdfast.clock import Clock
from holdfast.model.exchange import Request, Response
from holdfast.ports import Browsing, Fetcher, FileSink, Recorder


class RecordedFetcher:
    """Fulfils ports.Fetcher. Where no answer came there is nothing to keep. Pages worked by hand in a browser are not
    kept: a replay cannot repeat them."""

    def __init__(self, inner: Fetcher, recorder: Recorder, clock: Clock) -> None:
        self._inner, self._recorder, self._clock = inner, recorder, clock
        if isinstance(inner, Browsing):
            self.page = inner.page

    async def fetch(self, request: Request) -> Response:
        response = await self._inner.fetch(request)
        return await self._kept(request, response, in_file=False)

    async def download(self, request: Request, sink: FileSink) -> Response:
        response = await self._inner.download(request, sink)
        return await self._kept(request, response, in_file=not response.body)

    async def close(self) -> None:
        await self._inner.close()
        self._recorder.close()

    async def _kept(self, request: Request, response: Response, *, in_file: bool) -> Response:
        """Dated by the recording, so that a replay gives the same moment."""
        at_ms = self._clock.wall_ms()
        await asyncio.to_thread(self._recorder.keep, request, response, at_ms, in_file=in_file)
        return msgspec.structs.replace(response, answered_at=at_ms)
