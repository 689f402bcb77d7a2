"""robots.txt of every origin that this worker meets: from the ledger, else asked for once; kept in memory, bounded.

What is known answers at once and without the ledger. One task per origin finds out what is not, and the others wait.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.errors import FetchError, HostWaits, RobotsUnreachable
from holdfast.model.exchange import Response
from holdfast.model.host import UNREACHABLE, KeptRobots, RobotsAnswer
from holdfast.model.keys import Address
from holdfast.model.target import Claimed
from holdfast.policy.politeness import MET_BY_ANY_REQUEST, ROBOTS_TRIES, failed_try, kept_of
from holdfast.policy.retry import backoff, read_retry_after
from holdfast.policy.robots import ALL_ALLOWED, PRODUCT, ROBOTS_PATH, Robots, read_robots
from holdfast.policy.robots_rules import TOO_MUCH_WORK
from holdfast.ports import Ledger

if TYPE_CHECKING:
    from random import Random

RULES_KEPT_MAX = 50_000  # over all origins; the least recently met are let go
OTHERS_ASK_S = 0.1
OTHERS_ASK_TIMES = 100
WAITS_KEPT_MAX = 1_000

Get = Callable[[str], Awaitable[Response]]
TellCut = Callable[[str, str], None]  # origin, and which part of its robots.txt is ignored


class _Known(msgspec.Struct, frozen=True):
    """Rules until a moment of the monotonic clock; without rules, nothing of the origin may be fetched."""

    rules: Robots | None
    because: str
    until_ms: int


@dataclass(slots=True)
class _Line:
    """Callers that need one origin's rules: the first fetches them, the others wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class RobotsBook:
    """Belongs to one worker. With `ignoring`, everything is allowed and no robots.txt is fetched.

    Without `keeping`, an archive answers: what it says of an origin is asked once per worker, and never kept in the
    ledger, where crawls of the web would take it for what the origin says today.
    """

    def __init__(
        self,
        thread: LedgerThread,
        clock: Clock,
        random: Random,
        *,
        ignoring: bool,
        keeping: bool = True,
        tell_cut: TellCut | None = None,
    ) -> None:
        self._thread, self._clock, self._random, self._ignoring = thread, clock, random, ignoring
        self._keeping, self._tell_cut = keeping, tell_cut
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._weight = 0
        self._asking: dict[str, _Line] = {}
        self._unchecked: set[str] = set()  # origins that the user was told about
        self._waits: dict[str, tuple[int, str]] = {}  # origin -> until when it is not asked again, and why

    def known(self, origin: str) -> Robots | None:
        """The rules of an origin, where they are at hand."""
        if self._ignoring:
            return ALL_ALLOWED
        found = self._known.get(origin)
        return None if found is None or found.until_ms <= self._clock.monotonic_ms() else found.rules

    def barring(self, address: Address) -> str:
        """The rule that is known to forbid this address; empty: allowed, or to be found out when it is claimed."""
        rules = self.known(address.origin)
        rule = "" if rules is None else rules.barring(address.path)
        if rule:
            self.tell_unchecked(address.origin, rule)
        return rule

    def tell_unchecked(self, origin: str, rule: str) -> None:
        """Told once of an origin whose rules were too much work for a URL: it may concern all its pages."""
        if rule == TOO_MUCH_WORK and origin not in self._unchecked and self._tell_cut is not None:
            if len(self._unchecked) >= WAITS_KEPT_MAX:
                self._unchecked.clear()
            self._unchecked.add(origin)
            self._tell_cut(origin, "for some URLs too many rules with a star would have to be tried: not fetched")

    async def learn(self, origin: str, host: str, claimed: Claimed, get: Get) -> tuple[Robots, bool]:
        """The rules of an origin, and whether finding them out took a while. HostWaits: not now.

        RobotsUnreachable: they could not be had, in as many tries as there are.
        """
        line = self._asking.setdefault(origin, _Line())
        line.length += 1
        waited = line.length > 1
        try:
            async with line.lock:
                rules = self.known(origin)
                if rules is not None:
                    return rules, waited
                self._refuse(origin)
                return await self._find_out(origin, host, claimed, get)
        finally:
            line.length -= 1
            if not line.length:
                del self._asking[origin]

    def _refuse(self, origin: str) -> None:
        """Raise what was found out a moment ago and still holds."""
        now = self._clock.monotonic_ms()
        found = self._known.get(origin)
        if found is not None and found.rules is None and found.until_ms > now:
            raise RobotsUnreachable(found.because)
        until_ms, because = self._waits.get(origin, (0, ""))
        if until_ms > now:
            raise HostWaits(because, hold_ms=until_ms - now)
        self._waits.pop(origin, None)

    async def _find_out(self, origin: str, host: str, claimed: Claimed, get: Get) -> tuple[Robots, bool]:
        """From the ledger, else from the origin; where another worker is asking, what it got."""
        if not self._keeping:
            return self._learned(origin, await self._asked(origin, host, ROBOTS_TRIES - 1, get)), True
        waits = 0
        while True:
            insist = waits > OTHERS_ASK_TIMES
            answer = await self._thread.insist(partial(_look, origin=origin, claimed=claimed, insist=insist))
            if answer.kept is not None:
                return self._learned(origin, answer.kept), waits > 0
            if answer.ask:
                kept = await self._asked(origin, host, answer.tries, get)
                return self._learned(origin, kept), True
            waits += 1
            await self._clock.wait(OTHERS_ASK_S)

    async def _asked(self, origin: str, host: str, tries: int, get: Get) -> KeptRobots:
        kept: KeptRobots | None = None
        hold_ms = round(backoff(tries + 1, self._random) * 1000)
        try:
            response = await get(origin + ROBOTS_PATH)
            kept = kept_of(response.status, response.body)
            if kept is None:
                asked_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
                hold_ms = hold_ms if asked_s is None else round(asked_s * 1000)
                kept = failed_try(tries, f"robots.txt of {origin}: HTTP {response.status}")
        except FetchError as error:
            if error.code in MET_BY_ANY_REQUEST:
                raise
            kept = failed_try(tries, f"robots.txt of {origin}: {error.message}")
        finally:
            found = kept
            if self._keeping:
                await self._thread.insist(lambda ledger: ledger.keep_robots(origin, host, PRODUCT, found))
        if kept.status == UNREACHABLE and kept.life_ms == 0:
            raise self._waiting(origin, kept.because, hold_ms)
        return kept

    def _waiting(self, origin: str, because: str, hold_ms: int) -> HostWaits:
        """The host is not asked again before its rest is over."""
        now = self._clock.monotonic_ms()
        if len(self._waits) >= WAITS_KEPT_MAX:
            self._waits = {each: wait for each, wait in self._waits.items() if wait[0] > now}
        self._waits[origin] = (now + hold_ms, because)
        return HostWaits(because, hold_ms=hold_ms)

    def _learned(self, origin: str, kept: KeptRobots) -> Robots:
        """Remember it, and let go of the least recently met while there are too many rules."""
        rules = None if kept.status == UNREACHABLE else read_robots(kept.body)
        self._forget(origin)
        self._known[origin] = _Known(rules, kept.because, self._clock.monotonic_ms() + kept.life_ms)
        self._weight += _weight(rules)
        while self._weight > RULES_KEPT_MAX and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        if rules is None:
            raise RobotsUnreachable(kept.because)
        if rules.cut and self._tell_cut is not None:
            self._tell_cut(origin, rules.cut)
        return rules

    def _forget(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        self._weight -= 0 if known is None else _weight(known.rules)


def _look(ledger: Ledger, *, origin: str, claimed: Claimed, insist: bool) -> RobotsAnswer:
    return ledger.robots(origin, PRODUCT, claimed, insist=insist)


def _weight(rules: Robots | None) -> int:
    return 1 if rules is None else rules.weight
