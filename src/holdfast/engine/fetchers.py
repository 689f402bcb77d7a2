"""The fetchers of one session: `http`, which every job has, and others, opened when they are first asked for."""

from __future__ import annotations

import asyncio
import logging

from holdfast.model.exchange import HTTP
from holdfast.ports import Fetcher, OpenFetcher

log = logging.getLogger(__name__)


class Fetchers:
    """Opened by one factory, each once, and all closed at the end."""

    def __init__(self, open_fetcher: OpenFetcher) -> None:
        self._open = open_fetcher
        self._opened: dict[str, Fetcher] = {}
        self.http = self.named(HTTP)

    def named(self, name: str) -> Fetcher:
        """BadParams where there is none of that name."""
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    async def close(self) -> None:
        """All of them, whatever one of them raises; the first of what was raised is raised at the end."""
        opened, self._opened = self._opened, {}
        ends = await asyncio.gather(*(each.close() for each in opened.values()), return_exceptions=True)
        failures = [end for end in ends if isinstance(end, BaseException)]
        for failure in failures[1:]:
            log.warning("a fetcher could not be closed: %s", failure)
        if failures:
            raise failures[0]
