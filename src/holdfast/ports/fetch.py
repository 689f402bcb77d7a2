"""The network, and who is told of a job being worked."""

from __future__ import annotations

from typing import Protocol

from holdfast.model.exchange import Request, Response
from holdfast.model.job import Counts, Job


class Fetcher(Protocol):
    """The network, guarded. Raises FetchError with a code; never follows a redirect by itself."""

    async def fetch(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


class ProgressListener(Protocol):
    """Who listens to a job being worked. Called only after the commit that made the numbers true."""

    def __call__(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None: ...
