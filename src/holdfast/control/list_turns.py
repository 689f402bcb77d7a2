"""Turns of a command's own requests at the hosts that jobs ask too: in the same rows, but under no lease."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from holdfast.clock import Clock, jittered
from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES
from holdfast.errors import FetchError
from holdfast.model.exchange import Request, Response
from holdfast.model.host import FAILED, UNTOLD, Visited
from holdfast.model.job import Options
from holdfast.model.keys import canonical
from holdfast.policy.politeness import OF_THE_HOST, visited_of
from holdfast.policy.retry import backoff, read_retry_after
from holdfast.policy.waiting import clock_time
from holdfast.ports import Hosts

if TYPE_CHECKING:
    from random import Random

PATIENCE_MS = 1_000  # as far ahead as a turn is taken; what is further away is asked for again
WAIT_MS_MAX = 30_000  # the longest wait of an interactive command, besides the delay of the host
LEFT_ALONE = "left_alone"

Fetch = Callable[[Request], Awaitable[Response]]


class HostTurns:
    """For one command; a request waits for the turn of its host, and its answer counts like that of any page."""

    def __init__(self, hosts: Hosts, options: Options, clock: Clock, random: Random) -> None:
        self._hosts, self._options, self._clock, self._random = hosts, options, clock, random

    async def send(self, request: Request, fetch: Fetch) -> Response:
        """FetchError `left_alone`: the host is to be asked much later."""
        address = canonical(request.url)
        if address is None:
            return await fetch(request)  # which refuses it
        await self._take(address.host)
        visited = UNTOLD
        try:
            response = await fetch(request)
            asked_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
            visited = visited_of(response.status, asked_s, backoff(1, self._random))
            return response
        except FetchError as error:
            visited = Visited(FAILED if error.code in OF_THE_HOST else None)
            raise
        finally:
            repeated(lambda: self._hosts.tell(address.host, visited), tries=VERB_TRIES)

    async def _take(self, host: str) -> None:
        options, ticket = self._options, secrets.token_hex(8)
        delay_ms = round(jittered(options.delay_ms, options.jitter, self._random))
        give_up_ms = self._clock.monotonic_ms() + WAIT_MS_MAX + self._pace_ms(host, delay_ms)
        while True:
            turn = repeated(
                lambda: self._hosts.turn(
                    host, None, ticket=ticket, delay_ms=delay_ms, per_host=options.per_host, patience_ms=PATIENCE_MS
                ),
                tries=VERB_TRIES,
            )
            if not turn.taken and self._clock.monotonic_ms() + turn.wait_ms > give_up_ms:
                until = clock_time(self._clock.wall_ms() + turn.wait_ms)
                raise FetchError(LEFT_ALONE, f"{host} is left alone until {until}")
            if turn.taken:
                await self._clock.wait(turn.wait_ms / 1000)
                return
            # Before it is due: a job that works the host claims its next page at that very moment.
            early_ms = turn.wait_ms - PATIENCE_MS // 2
            await self._clock.wait((early_ms if turn.wait_ms > PATIENCE_MS else turn.wait_ms) / 1000)

    def _pace_ms(self, host: str, delay_ms: int) -> int:
        """Between two requests to the host: what the job, its robots.txt and `limits set` ask for."""
        looks = repeated(lambda: self._hosts.hosts(host=host), tries=VERB_TRIES)
        return max([delay_ms, *(each or 0 for look in looks for each in (look.delay_ms, look.crawl_delay_ms))])
