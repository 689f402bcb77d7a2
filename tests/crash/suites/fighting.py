"""Two or four processes fight over one job with leases of a second: stopped, woken and killed at random, started again.

Whoever sleeps past its lease wakes up as somebody who has lost; whoever dies is followed by the next. In the end the
job is what one calm process makes of it.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from crash.scene import CONCURRENCY, Scene
from crash.suites.stage import Stage, on_postgres, staged
from crash.suites.suite import Suite, Trial
from holdfast import wiring
from holdfast.demo.command import ChildCommand, now_ns
from waiting import wait_until

PAGES = 60
DELAY_MS = 40
LEASE = {"HOLDFAST_LEASE_S": "1"}
BLOWS = 3
WORKER_SHARE = 0.9
REST_S_MAX = 3.0  # a lease, the half second after which a watcher looks again, and the start of the next one
END_S_MAX = 60.0
SETTLED_TWICE = "SELECT target FROM attempt WHERE outcome = 'succeeded' GROUP BY target HAVING count(*) > 1"


@dataclass
class Fight:
    """The processes, each the same command, and what was done to them. Who ended and was not through comes back."""

    scene: Scene
    source: Random
    fighters: list[ChildCommand]
    asleep: set[int] = field(default_factory=set)
    blows: Counter[str] = field(default_factory=Counter)

    def blow(self) -> None:
        """Something bad to one of them, mostly to one that works; a sleeper is woken or killed in its sleep."""
        everybody = range(len(self.fighters))
        working = [n for n in everybody if n not in self.asleep and _works(self.fighters[n])]
        n = self.source.choice(working if working and self.source.random() < WORKER_SHARE else everybody)
        if n in self.asleep:
            self._kill(n) if self.source.random() < 0.3 else self._wake(n)
        elif self.source.random() < 0.6 and len(self.asleep) < len(self.fighters) - 1:
            self._send(n, signal.SIGSTOP)
            self.asleep.add(n)
        else:
            self._kill(n)

    def rest(self, asks: int) -> None:
        """Until the site was asked so often again, or for as long as a takeover takes."""
        seen = len(self.scene.asks())
        until_ns = now_ns() + round(REST_S_MAX * 1e9)

        def is_over() -> bool:
            self.refill()
            return len(self.scene.asks()) >= seen + asks or now_ns() > until_ns

        wait_until(is_over, END_S_MAX)

    def refill(self) -> None:
        for n, fighter in enumerate(self.fighters):
            if fighter.code not in (None, 0):
                self.fighters[n] = self.scene.crawl(LEASE)

    def end(self) -> None:
        """Everybody awake, and left alone until all are through."""
        for n in sorted(self.asleep):
            self._wake(n)

        def all_through() -> bool:
            self.refill()
            return all(fighter.code == 0 for fighter in self.fighters)

        wait_until(all_through, END_S_MAX, "the end of the job")

    def _wake(self, n: int) -> None:
        self._send(n, signal.SIGCONT)
        self.asleep.discard(n)

    def _kill(self, n: int) -> None:
        self._send(n, signal.SIGKILL)
        self.asleep.discard(n)
        self.fighters[n].wait(END_S_MAX)

    def _send(self, n: int, blow: signal.Signals) -> None:
        if self.fighters[n].code is None:
            self.fighters[n].send(blow)
            self.blows[blow.name] += 1


def fought(stage: Stage, place: Path, seed: int, *, fighters: int) -> Trial:
    source = Random(seed)
    with stage.scene(place) as scene:
        fight = Fight(scene, source, [scene.crawl(LEASE) for _ in range(fighters)])
        scene.await_asks(1)
        for _ in range(BLOWS):
            fight.rest(source.randint(1, CONCURRENCY))
            fight.blow()
        fight.end()
        words = (
            f"{fighters} processes, {'SQLite' if scene.database == 'sqlite' else 'PostgreSQL'}: {_told(fight.blows)}"
        )
        assert stage.calm is not None
        taken_over = scene.look().job.recoveries
        broken = stage.calm.broken_by(scene) or _settled_twice(scene)  # the last: it opens the ledger in this process
        return Trial(seed, f"{words}; taken over {taken_over} times", delivered=taken_over > 0, broken=broken)


def _works(fighter: ChildCommand) -> bool:
    """By its own words; one that was born just now may not even have a place to say them."""
    try:
        said = fighter.err
    except FileNotFoundError:
        return False
    return "watching" not in said and any(word in said for word in ("Starting", "Resuming"))


def _told(blows: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(blows.items()))


def _settled_twice(scene: Scene) -> str:
    ledger = wiring.open_ledger(scene.settings)
    try:
        twice = ledger.query(SETTLED_TWICE)
    finally:
        ledger.close()
    return f"settled twice: {twice}" if twice else ""


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with staged(folder, pages=PAGES, delay_ms=DELAY_MS) as on_sqlite, on_postgres() as database:
        stages = (on_sqlite, replace(on_sqlite, database=database))

        def play_one(place: Path, seed: int) -> Trial:
            return fought(stages[seed % 2], place, seed, fighters=(2, 4)[seed // 2 % 2])

        yield play_one


FIGHTING = Suite(
    name="T5-fight",
    title="two and four processes fight over one job: SIGSTOP past the lease, SIGCONT, kill -9",
    scope=f"tree of {PAGES} pages of {DELAY_MS} ms, leases of 1 s, {BLOWS} blows each; SQLite and PostgreSQL in turn",
    stage=_stage,
    small=4,
    full=200,
)
