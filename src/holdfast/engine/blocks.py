"""Answers that look like a block page: looked at again, taken as a page, or a reason to leave the host alone.

The job pauses only where it has no other host to ask. What counts is kept in memory: after a restart it is counted
again, and no page was settled by it meanwhile.
"""

from __future__ import annotations

import logging

from holdfast.clock import Clock
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.errors import Blocked, HostWaits
from holdfast.model.exchange import Response
from holdfast.model.keys import origin_of
from holdfast.model.target import Claimed
from holdfast.policy.blocking import A_PAGE, ALONE, HOSTS_KEPT, LOOK_AGAIN, Lookalikes, block_page
from holdfast.ports import Ledger

log = logging.getLogger(__name__)

LOOK_AGAIN_MS = 2_000
TURNS_BETWEEN = 4  # of the host, so that other pages of it are asked for meanwhile
HOLD_MS = 10 * 60_000
HELD_MS_MAX = 2 * 60_000  # a host that is left alone for longer is none that the job could go on with


class Blocks:
    """What one worker of a job knows of hosts that may block it."""

    def __init__(self, job: int, thread: LedgerThread, clock: Clock, *, delay_ms: int) -> None:
        self._job, self._thread, self._clock, self._delay_ms = job, thread, clock, delay_ms
        self._lookalikes = Lookalikes()
        self._because: dict[str, str] = {}  # of hosts that are left alone
        self._good: set[str] = set()  # hosts with a stored page

    def is_clear(self, response: Response) -> bool:
        """Whether there is nothing to check: as nearly always."""
        return not self._lookalikes.by_host and not block_page(response)

    async def check(self, response: Response, claimed: Claimed) -> None:
        """Raises HostWaits where the page is to be looked at again, Blocked where its host blocks us."""
        signs, seen = block_page(response), self._lookalikes
        if not signs:
            if seen.by_host:
                host = _host(response)
                seen.answered(host, response.status)
                if host not in seen.by_host:
                    self._because.pop(host, None)
            return
        host = _host(response)
        what = seen.met(host, response.url)
        said = f"it answered {response.status} with a block page ({signs})"
        if what == A_PAGE or (what == ALONE and not claimed.hops and await self._has_pages(host)):
            log.warning("%s looks like a block page (%s), but others of %s do not: taken as it is",
                        response.url, signs, host)  # fmt: skip
        elif what == LOOK_AGAIN:
            wait_ms = max(LOOK_AGAIN_MS, TURNS_BETWEEN * max(claimed.delay_ms, self._delay_ms))
            raise HostWaits(f"{said}; looked at again, when others of {host} were", hold_ms=0, wait_ms=wait_ms)
        else:
            because = f"{host} blocks us: {said}"
            alone = host != claimed.host or not await self.others_are_left(host)
            self._because = {} if alone else {**self._because, host: because}
            raise Blocked(because, hold_ms=0 if alone else HOLD_MS)

    async def _has_pages(self, host: str) -> bool:
        """Whether any page of this host was ever stored: one is enough, and what was stored once need not be asked."""
        if host not in self._good:
            where = [("host", True, (host,)), ("status", True, ("succeeded",))]
            if not await self._thread.insist(lambda ledger: ledger.targets(self._job, where=where, limit=1)):
                return False
            if len(self._good) >= HOSTS_KEPT:
                self._good.clear()
            self._good.add(host)
        return True

    async def others_are_left(self, host: str = "") -> bool:
        """Whether the job can go on with another host, in whichever worker."""
        return await self._thread.insist(lambda ledger: self._others_are_left(ledger, host))

    def _others_are_left(self, ledger: Ledger, host: str) -> bool:
        soon = self._clock.wall_ms() + HELD_MS_MAX
        return any(
            row.host != host and (row.in_progress > 0 or row.hold_until < soon)
            for row in ledger.hosts_waiting(self._job)
        )

    async def pausing(self) -> str:
        """Why the job is to pause: hosts that block us are all that is left; "" where it need not."""
        because = next((said for host, said in self._because.items() if host in self._lookalikes.by_host), "")
        return because if because and not await self.others_are_left() else ""


def _host(response: Response) -> str:
    return origin_of(response.url).partition("//")[2]
