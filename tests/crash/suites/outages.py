"""T9: PostgreSQL dies, is restarted, stands still; connections are reset, plugged, or carry questions and no answers.

The crawl waits for it and goes on by itself; in some trials it is killed as well while the database is away. Leases
last two seconds, so that many outages are longer.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from crash.scene import Scene
from crash.suites.stage import PAGES, WORKLOAD, Stage, staged
from crash.suites.suite import Suite, Trial
from crash.suites.wire import Wire
from forked import Child
from holdfast.testing.postgres import Postgres, temporary_postgres
from servers import fresh_schema

LEASE = {"HOLDFAST_LEASE": "2s"}
SHORT_S, LONG_S = (0.05, 1.0), (2.0, 4.0)
ASK_S_MAX = 30.0
KILLED_TOO_SHARE = 0.25


@dataclass(frozen=True)
class Outage:
    """How the database goes away, and how it comes back."""

    name: str
    begin: Callable[[], None]
    end: Callable[[], None]


def _outages(server: Postgres, wire: Wire) -> tuple[Outage, ...]:
    return (
        Outage("kill -9 of the server", server.kill, server.start),
        Outage("every connection reset", wire.cut, wire.mend),
        Outage("the server stands still", server.freeze, server.thaw),
        Outage("answers lost, then reset", wire.deafen, wire.mend),
        Outage("a shutdown", server.shut_down, server.start),
        Outage("nothing passes", wire.plug, wire.mend),
    )


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with temporary_postgres() as server, Wire(_port(server.url)) as wire:

        @contextmanager
        def by_wire() -> Iterator[str]:
            with fresh_schema(server.url) as url:
                yield url.replace(f":{_port(url)}/", f":{wire.port}/")

        with staged(folder, database=by_wire) as stage:
            outages = _outages(server, wire)
            yield lambda place, seed: _gone(stage, place, seed, outages[seed % len(outages)])


def _gone(stage: Stage, place: Path, seed: int, outage: Outage) -> Trial:
    chance = Random(seed)
    processes = 1 + (seed + seed // 6) % 2
    asks, ms = chance.randint(0, PAGES - 8), chance.uniform(0, 20)
    away_s = chance.uniform(*chance.choice((SHORT_S, LONG_S)))
    is_killed = chance.random() < KILLED_TOO_SHARE
    delivered = False

    def crawling(scene: Scene) -> Child:
        nonlocal delivered
        child = scene.crawl(LEASE, processes=processes)
        child.wait_for(lambda: len(scene.asks()) >= asks, seconds=ASK_S_MAX)
        time.sleep(ms / 1000)
        outage.begin()
        try:
            time.sleep(away_s)
            delivered = child.code is None
            if is_killed:
                child.kill()
        finally:
            outage.end()
        return child

    with stage.scene(place) as scene:
        stretch = stage.stretch(scene, lambda: crawling(scene))
        wanted = -signal.SIGKILL if is_killed else 0
        wrong = "" if stretch.code == wanted else f"ended with {stretch.code}: {scene.started[-1].err}"
        fault = f"{outage.name} after request {asks}, for {away_s:.1f} s, {processes} process(es)"
        fault += ", the crawl killed meanwhile" if is_killed else ""
        broken = "" if not delivered else "; ".join(filter(None, [wrong, stage.broken_by(scene, [stretch])]))
        return Trial(seed, fault, delivered, broken)


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


OUTAGES = Suite(
    name="T9-pg",
    title="PostgreSQL is killed, shut down, stopped, cut off, plugged, unheard, while a crawl runs",
    scope=f"{WORKLOAD}, PostgreSQL, 1 or 2 processes, leases of 2 s, away for {SHORT_S[0]:g} to {LONG_S[1]:g} s; "
    "one crawl in four killed meanwhile",
    stage=_stage,
    small=6,
    full=200,
)
