"""How many bytes of answers count as held by steps."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from holdfast.clock import ManualClock
from holdfast.engine.fetching import Fetching, StepFetch
from holdfast.engine.robots import RobotsBook
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Options
from holdfast.model.target import Claimed

URL = "https://marsh.test/frog"


class Web:
    @property
    def http(self) -> Web:
        return self

    async def fetch(self, request: Request) -> Response:
        return Response(url=request.url, status=200, headers=(), body=b"x" * 1_000_000)


def test_answers_that_a_step_let_go_of_do_not_count_as_held() -> None:
    """A step that fetched 300 pages and kept none made all others take in one body at a time."""
    clock, none = ManualClock(), None
    nothing: Any = none  # no ledger is asked: each request has the turn of its claim
    book = RobotsBook(nothing, clock, Random(1), ignoring=True)
    web: Any = Web()
    job = Fetching(web, book, nothing, clock, Options(detect_blocks=False), Random(1), nothing, nothing)
    fetch = StepFetch(job, Claimed(1, 1, 1, b"k" * 16, URL, "marsh.test", "page", 0, None, 0, 1, 0))

    async def step() -> None:
        for _ in range(30):
            fetch._unused = True
            await fetch(URL)
            assert job.held_bytes <= 1_000_000
        fetch._unused = True
        kept = await fetch(URL)
        assert job.held_bytes == len(kept.body)
        fetch.end()
        assert job.held_bytes == 0
        del kept
        assert job.held_bytes == 0

    asyncio.run(step())
