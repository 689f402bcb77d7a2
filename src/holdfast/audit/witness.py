"""Laws that need a witness outside the ledger (L3, L4, O3): the site's own log, what a look at the ledger found at each
death, and the results of a run without faults. Pure functions; what they return are the offenders, empty is good.

An ask is a line of the site's log: `at_ns` (CLOCK_MONOTONIC) and `key`, the URL that was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

Ask = Mapping[str, Any]
Result = tuple[str, str | None, str]  # url, sha256 in hex, status


class Death(msgspec.Struct, frozen=True):
    """A kill: when it had certainly happened, and the URLs that the ledger then had as settled."""

    at_ns: int
    settled: frozenset[str]


class Seen(msgspec.Struct, frozen=True):
    """The end of a run as the ledger tells it: one per target."""

    url: str
    status: str
    sha256: str | None
    attempts: int  # attempt rows, the refunded ones too


def fetched_after_settled(asks: Iterable[Ask], deaths: Iterable[Death]) -> list[Ask]:
    """L3: requests for pages that were already settled when the worker died before them."""
    ordered = sorted(deaths, key=lambda death: death.at_ns)
    return [ask for ask in asks if any(ask["key"] in death.settled for death in _before(ask, ordered))]


def asked_more_than_attempts(asks: Iterable[Ask], targets: Iterable[Seen]) -> list[tuple[str, int, int]]:
    """L4: (URL, requests, attempt rows) of targets asked for more often than they were claimed. Others are ignored:
    robots.txt is not a target."""
    asked = Counter(ask["key"] for ask in asks)
    return [(row.url, asked[row.url], row.attempts) for row in targets if asked[row.url] > row.attempts]


def lost(expected: Collection[str], targets: Iterable[Seen]) -> list[str]:
    """Pages of the world that did not succeed."""
    return sorted(set(expected) - {row.url for row in targets if row.status == "succeeded"})


def never_asked(asks: Iterable[Ask], targets: Iterable[Seen]) -> list[str]:
    """Targets with a result that was never fetched."""
    asked = {ask["key"] for ask in asks}
    return sorted(row.url for row in targets if row.status == "succeeded" and row.url not in asked)


def doubled(urls: Iterable[str]) -> list[str]:
    """URLs that a list of results (an export, the succeeded targets) has more than once."""
    return sorted(url for url, n in Counter(urls).items() if n > 1)


def differences(calm: Iterable[Seen], stormy: Iterable[Seen]) -> tuple[list[Result], list[Result]]:
    """O3: what only the run without faults has, and what only the run with faults has. Both empty: identical."""
    first, second = ({(row.url, row.sha256, row.status) for row in rows} for rows in (calm, stormy))
    return sorted(first - second, key=_sortable), sorted(second - first, key=_sortable)


def _before(ask: Ask, deaths: Iterable[Death]) -> Iterable[Death]:
    return (death for death in deaths if death.at_ns < ask["at_ns"])


def _sortable(result: Result) -> tuple[str, str, str]:
    return result[0], result[1] or "", result[2]
