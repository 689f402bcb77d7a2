"""T10: somebody sets the computer's clock, or a process sleeps past its lease, in the middle of a crawl.

A leap may cost a moment or an early retry; never a result, never everybody's leases, never a wait of its own length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from crash.suites.pond import FLAKY, LEASE_S, OPTIONS, PAGES, Pond
from crash.suites.suite import Suite, Trial
from holdfast.audit.verify import verify
from holdfast.audit.witness import doubled
from holdfast.ports import SessionEnd

HELD_UP_S_MAX = 5.0  # real seconds for what takes half of one
SECOND, HOUR, DAY, YEAR = 1000, 3_600_000, 86_400_000, 31_557_600_000
LEAPS_MS = {
    "1 s": SECOND, "10 s": 10 * SECOND, "1 h": HOUR, "1 d": DAY, "1 y": YEAR, "10 y": 10 * YEAR,
}  # fmt: skip
SUSPENDED = ("suspended", "suspended and taken over")
KINDS = ("set", "set at rest", "set while paused", "set after a pause", "set and set back", *SUSPENDED)


@contextmanager
def stage(_: Path) -> Iterator[Callable[[Path, int], Trial]]:
    yield play_one


def play_one(folder: Path, seed: int) -> Trial:
    """The kind goes round with the seed, so that any few trials in a row have every kind."""
    source = Random(seed)
    kind, size = KINDS[seed % len(KINDS)], source.choice(list(LEAPS_MS))
    sign = source.choice((1, -1, -1))  # back is what hurts
    at = source.randint(2, PAGES - 12)
    pond = Pond(folder, flaky=FLAKY if seed // len(KINDS) % 2 else frozenset())
    try:
        ended = _played(pond, kind, sign * LEAPS_MS[size], at)
        broken = _broken(pond, ended, kind)
    finally:
        pond.close()
    way = "two leases long" if kind in SUSPENDED else f"{'forward' if sign > 0 else 'back'} {size}"
    return Trial(seed, f"{kind}, {way}, at ask {at}", len(pond.asked) >= at, broken)


def _played(pond: Pond, kind: str, leap_ms: int, at: int) -> SessionEnd:
    clock = pond.clock

    def push(ms: int) -> None:
        clock.wall_by_ms += ms

    def suspend() -> None:
        clock.monotonic_by_ms += round(2 * LEASE_S * 1000)
        clock.wall_by_ms += round(2 * LEASE_S * 1000)
        if kind == "suspended and taken over":
            pond.meanwhile(seconds_max=HELD_UP_S_MAX)

    if kind in SUSPENDED:
        pond.leaps = {at: suspend}
    elif kind == "set and set back":
        pond.leaps = {at: lambda: push(leap_ms), at + 10: lambda: push(-leap_ms)}
    elif kind == "set":
        pond.leaps = {at: lambda: push(leap_ms)}
    else:
        first = pond.session()
        pond.leaps = {at: lambda: first.interrupt("drain" if kind == "set at rest" else "pause")}
        first.run()
        if kind == "set after a pause":
            push(DAY)
            pond.leaps[len(pond.asked) + 1] = lambda: push(leap_ms)
        else:
            push(leap_ms)
    return pond.run(seconds_max=HELD_UP_S_MAX)


def _broken(pond: Pond, ended: SessionEnd, kind: str) -> str:
    """What does not hold, in words; empty is good."""
    if ended.how == "interrupted":
        return f"held up: {ended.counts.succeeded} of {PAGES} pages after {HELD_UP_S_MAX:g} s"
    said = []
    if (ended.job.status, ended.counts.succeeded, ended.counts.discovered) != ("completed", PAGES, PAGES):
        said.append(f"{ended.how}: {ended.counts.succeeded} of {ended.counts.discovered} succeeded")
    if pond.settled_twice():
        said.append(f"settled twice: {pond.settled_twice()}")
    again = [url for url in doubled(pond.asked) if url.rpartition("marsh.test")[2] not in FLAKY]
    if len(again) > (2 * OPTIONS.concurrency if kind in SUSPENDED else 0):
        said.append(f"fetched again: {again}")
    if ended.job.recoveries > (kind in SUSPENDED) * 2:
        said.append(f"{ended.job.recoveries} recoveries though nobody's lease had lapsed")
    said += [f"{finding.check}: {finding.rows[:3]}" for finding in verify(pond.ledger.query, pond.job)]
    return "; ".join(said)


CLOCK_JUMPS = Suite(
    name="T10",
    title="the clock is set by 1 s to 10 years either way, or a process sleeps two leases",
    scope="real SQLite ledger and engine in one process, simulated clock, 60 pages, three of them retried",
    stage=stage,
    small=12,
    full=500,
)
