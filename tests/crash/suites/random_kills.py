"""T5: kill -9 at random moments, and SIGSTOP past the lease while another process takes over.

The moment is drawn from the seed: some milliseconds after some request. What the race makes of it is another thing in
every run, so the seed names the trial and does not replay it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from crash.scene import Scene
from crash.suites.stage import PAGES, WORKLOAD, Ledger, Stage, on_postgres, on_sqlite, staged
from crash.suites.suite import Suite, Trial
from forked import Child
from waiting import stop, wait_until

LEASE_S = 1
SHORT_LEASE = {"HOLDFAST_LEASE_S": str(LEASE_S)}
AFTER_MS_MAX = 30
KILLS_MAX = 2
ASK_S_MAX = 30.0
PAGE_MS = 60


def _killing(ledger: Ledger) -> Callable[[Path], Iterator[Callable[..., Trial]]]:
    def stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
        with ledger() as database, staged(folder, database=database) as stage:
            yield lambda place, seed: _killed(stage, place, seed)

    return stage


def _killed(stage: Stage, place: Path, seed: int) -> Trial:
    """One or two deaths, then to the end."""
    chance = Random(seed)
    with stage.scene(place) as scene:
        stretches, told = [], []
        for _ in range(chance.randint(1, KILLS_MAX)):
            asks, ms = chance.randint(0, PAGES // KILLS_MAX - 1), chance.uniform(0, AFTER_MS_MAX)
            told.append(f"{ms:.0f} ms after request {asks}")
            stretches.append(stage.stretch(scene, lambda: _shot(scene, asks, ms)))  # noqa: B023 - called at once
        delivered = all(stretch.code == -signal.SIGKILL for stretch in stretches)
        return Trial(seed, f"kill -9 {', then '.join(told)}", delivered, stage.broken_by(scene, stretches))


def _shot(scene: Scene, asks: int, ms: float) -> Child:
    first = len(scene.asks())
    child = scene.crawl()
    child.wait_for(lambda: len(scene.asks()) - first >= asks, seconds=ASK_S_MAX)
    time.sleep(ms / 1000)
    child.kill()
    return child


def _stopping(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with staged(folder) as stage:
        yield lambda place, seed: _stopped(stage, place, seed)


def _stopped(stage: Stage, place: Path, seed: int) -> Trial:
    """A worker sleeps past its lease, another one takes over; the sleeper wakes during that, or after it."""
    chance = Random(seed)
    asks, wakes_early = chance.randint(1, PAGES // 2), chance.random() < 0.5
    with stage.scene(place) as scene:
        sleeper = _asleep(stage, scene, asks)
        other = scene.crawl(SHORT_LEASE)
        if wakes_early:
            first = len(scene.asks())
            other.wait_for(lambda: len(scene.asks()) > first + chance.randint(1, 8), seconds=ASK_S_MAX)
        else:
            stage.world.set_faults()
            other.wait(ASK_S_MAX)
        delivered = sleeper.code is None
        sleeper.send(signal.SIGCONT)
        stage.world.set_faults()
        codes = other.wait(ASK_S_MAX), sleeper.wait(ASK_S_MAX)
        when = "during it" if wakes_early else "after it"
        fault = f"SIGSTOP after request {asks} past the lease of {LEASE_S} s; another takes over; SIGCONT {when}"
        wrong = "" if codes == (0, 0) else f"ended with {codes}: {other.err}{sleeper.err}"
        broken = [wrong, stage.broken_by(scene, [])]
        return Trial(seed, fault, delivered, "; ".join(filter(None, broken)))


def _asleep(stage: Stage, scene: Scene, asks: int) -> Child:
    """Stopped, but not inside a write: a stopped process keeps SQLite's lock, and nobody can take over."""
    scene.slow_down(PAGE_MS)
    sleeper = scene.crawl(SHORT_LEASE)
    sleeper.wait_for(lambda: len(scene.asks()) >= asks, seconds=ASK_S_MAX)
    stop(sleeper.pid)
    while scene.is_locked():
        sleeper.send(signal.SIGCONT)
        time.sleep(PAGE_MS / 10_000)
        stop(sleeper.pid)
    lapsed = "no process works it"
    wait_until(lambda: lapsed in scene.run("status", scene.job_name).out, ASK_S_MAX, "lapsed leases")
    return sleeper


def _suite(name: str, ledger: str, database: Ledger, small: int) -> Suite:
    return Suite(
        name=name,
        title=f"kill -9 at random moments, on {ledger}",
        scope=f"{WORKLOAD}, {ledger}, lease 30 s; 1 or {KILLS_MAX} kills of the worker in a trial",
        stage=contextmanager(_killing(database)),
        small=small,
        full=2_000,
    )


RANDOM_KILLS = _suite("T5", "SQLite", on_sqlite, small=10)
RANDOM_KILLS_PG = _suite("T5-pg", "PostgreSQL", on_postgres, small=4)
STOPPED = Suite(
    name="T5-stop",
    title="SIGSTOP past the lease while another process takes over",
    scope=f"{WORKLOAD}, SQLite, lease {LEASE_S} s",
    stage=contextmanager(_stopping),
    small=3,
    full=200,
)
