"""What a host is owed, decided purely: what its robots.txt means however it was answered, and when it needs a rest.

A robots.txt that says nothing (any other 4xx, too many redirects) allows everything. One that could not be had (5xx,
429, a time-out, a broken answer) makes the host wait; after three tries nothing of that origin may be fetched for a
while, and then it is asked again.

The breaker: five failures in a row, over all pages and jobs, give the host a rest of 30 s, the next five one of 60 s,
up to 15 minutes. Any answer that is not a failure of the host closes it.

Answers 403 in a row are counted beside it: one is a page's matter, many with no other answer between are the host's
(policy/blocking.py). A failure is not an answer and does not change that count.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from holdfast.model.host import ANSWERED, FAILED, FORBADE, ROBOTS_LIFE_MS, UNREACHABLE, Breaker, KeptRobots, Visited
from holdfast.model.job import Options
from holdfast.model.outcome import Verdict
from holdfast.policy.robots import ROBOTS_BYTES_MAX, read_robots

ROBOTS_TRIES = 3
ROBOTS_REDIRECTS_MAX = 5
UNREACHABLE_LIFE_MS = 60_000
FAILS_TO_OPEN = 5
REST_MS_FIRST = 30_000
REST_MS_MAX = 15 * 60_000

# Failures of the host and not of one page.
OF_THE_HOST = frozenset({"network_timeout", "network_error", "dns_error", "tls_error", "http_429", "http_5xx"})

FORBIDDEN = "http_403"

# Failures that would meet the page as well: the target fails with them, and robots.txt is as unknown as before.
MET_BY_ANY_REQUEST = frozenset(
    {"network_error", "dns_error", "tls_error", "blocked_address", "bad_url", "no_resources"}
)


def without_hosts(options: Options) -> Options:
    """How a job is worked that an archive answers: there is no host to wait for, and to ask twice gives the same."""
    return msgspec.structs.replace(
        options, delay_ms=0, jitter=0, max_attempts=1, detect_blocks=False, targets_per_host=0
    )


def kept_of(status: int, body: bytes) -> KeptRobots | None:
    """What to keep of an answer to robots.txt; None where it counts as a failed try."""
    if 200 <= status < 300 and status != 206:
        part = body[: ROBOTS_BYTES_MAX + 1]
        delay_ms = read_robots(part).crawl_delay_ms
        return KeptRobots(status=status, body=part, crawl_delay_ms=delay_ms, life_ms=ROBOTS_LIFE_MS)
    if 300 <= status < 500 and status != 429:
        return KeptRobots(status=status, life_ms=ROBOTS_LIFE_MS)
    return None


def failed_try(tries: int, because: str) -> KeptRobots:
    """What to keep when robots.txt could not be had, after so many failed tries before this one."""
    if tries + 1 < ROBOTS_TRIES:
        return KeptRobots(status=UNREACHABLE, tries=tries + 1, because=because, life_ms=0)
    return KeptRobots(status=UNREACHABLE, tries=0, because=because, life_ms=UNREACHABLE_LIFE_MS)


def heard_of_host(verdict: Verdict) -> str | None:
    """What this attempt says about the target's host; None where it was not asked, or nothing can be said."""
    if verdict.elsewhere:
        return None
    if verdict.code in OF_THE_HOST:
        return FAILED
    if verdict.code == FORBIDDEN:
        return FORBADE
    return ANSWERED if verdict.move == "succeed" or verdict.status_code is not None else None


def visited_of(status: int, asked_s: float | None, backoff_s: float) -> Visited:
    """What an answer says of its host. `asked_s` is its Retry-After, `backoff_s` how long it is left alone without."""
    if status != 429 and status < 500:
        return Visited(FORBADE if status == 403 else ANSWERED)
    return Visited(FAILED, hold_ms=round((backoff_s if asked_s is None else asked_s) * 1000))


def breaker(state: Breaker, heard: Iterable[str]) -> tuple[Breaker, int]:
    """The breaker after what was heard, in that order, and for how many ms the host is to rest from now on; 0: not."""
    fails, trips, forbade, rest_ms = state.fails, state.trips, state.forbade, 0
    for word in heard:
        if word != FAILED:
            fails = trips = rest_ms = 0
            forbade = forbade + 1 if word == FORBADE else 0
        elif not (rest_ms or state.is_open):  # what was under way when it opened says nothing new
            fails += 1
        if fails >= FAILS_TO_OPEN:
            rest_ms = min(REST_MS_FIRST << min(trips, 10), REST_MS_MAX)
            fails, trips = 0, trips + 1
    return Breaker(fails, trips, state.is_open, forbade), rest_ms
