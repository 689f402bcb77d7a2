"""Hosts as values: the turn that a request takes, the robots.txt that is kept, the row that people look at. No I/O."""

from __future__ import annotations

import msgspec

ROBOTS_LIFE_MS = 24 * 3600 * 1000
UNREACHABLE = 0  # in place of an HTTP status: robots.txt could not be read, so nothing may be fetched


class Turn(msgspec.Struct, frozen=True):
    """Whether a host may be asked, and in how many milliseconds: to begin then, or else to ask for a turn again."""

    taken: bool
    wait_ms: int


# What was heard of a host in one request: it did its part, it said 403, or it failed.
ANSWERED, FORBADE, FAILED = "answered", "forbade", "failed"


class Visited(msgspec.Struct, frozen=True):
    """How a visit went: what was heard of the host (None: not asked), and for how long it is to be left alone."""

    heard: str | None = None
    hold_ms: int = 0


UNTOLD = Visited()


class KeptRobots(msgspec.Struct, frozen=True, kw_only=True):
    """What an origin's robots.txt was answered with. `tries` are those that failed; `until` is when it is asked anew.

    `life_ms` counts from the moment of keeping by the store's clock; 0: nothing is known yet but the failed tries.
    """

    status: int
    body: bytes = b""
    crawl_delay_ms: int | None = None
    tries: int = 0
    because: str = ""
    life_ms: int = ROBOTS_LIFE_MS


class RobotsAnswer(msgspec.Struct, frozen=True):
    """What the ledger says about an origin: it is `kept`, or the asker is to `ask` now, or another worker is asking."""

    kept: KeptRobots | None = None
    ask: bool = False
    tries: int = 0


class Breaker(msgspec.Struct, frozen=True):
    """Failures in a row since the last answer or rest, and rests since the last answer; answers 403 in a row."""

    fails: int = 0
    trips: int = 0
    is_open: bool = False
    forbade: int = 0


class HostLook(msgspec.Struct, frozen=True, kw_only=True):
    """A host as people see it. Times are wall ms; `delay_ms` and `concurrency` are what was set for it, if anything."""

    host: str
    delay_ms: int | None
    concurrency: int | None
    crawl_delay_ms: int | None
    in_flight: int
    next_at: int
    hold_until: int
    fails: int
    trips: int
    robots_at: int | None

    def breaker(self, now_ms: int) -> str:
        """`closed`, `open` (it rests), or `half_open`: it had a rest, and has not answered since."""
        if not self.trips:
            return "closed"
        return "open" if self.hold_until > now_ms else "half_open"
