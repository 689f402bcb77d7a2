"""One seed: a job, two to eight processes, and everything that may happen to them, in an order that the seed decides.

One thread and a clock moved by hand: whoever is next is popped from a heap, acts once, and the witness looks. After the
storm comes a calm, in which whoever is alive must bring the job to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, Protocol

from conformance.bench import Bench
from crash.storm.around import Lost
from crash.storm.log import Broken, Log, Watched
from crash.storm.people import Chores, Operator
from crash.storm.process import Process
from crash.storm.sight import Eyes, Sight
from crash.storm.site import Site
from crash.storm.weather import Weather
from crash.storm.witness import Witness
from holdfast import faults
from holdfast.errors import HoldfastError, LedgerUnavailable

SIZES = (2, 3, 4, 5, 6, 8)
ROUGH_ACTS = 60
ACTS_MAX = 2_500  # far more than any calm needs: whoever comes to no end has lost something
LOSABLE = ("settle", "claim", "lease", "enqueue")  # calls with a fault point on both sides of their commit
LOST_SHARE = 0.12


class Actor(Protocol):
    is_dead: bool

    def act(self) -> float: ...


class Storm:
    """`story` is what happened, line by line; `hits` counts what went wrong, which makes the trial one."""

    def __init__(self, bench: Bench, eyes: Eyes, site: Site, seed: int, *, is_rough: bool = True) -> None:
        self.bench, self.site, self.clock = bench, site, bench.clock
        self._chance = Random(seed)
        self.is_rough = is_rough
        self.size = self._chance.choice(SIZES)
        self.log, self.hits, self.story = Log(), Counter(), list[str]()
        self.job = bench.started().id
        bench.ledger.open_run(self.job, mode="full", trigger="cli")
        self._connections = [Watched(ledger, self.log) for ledger in (bench.ledger, bench.open())]
        self.ledger = self._connections[0]
        self.witness = Witness(bench, eyes, self.job, self.log)
        self._queue: list[tuple[int, int, Actor]] = []
        self._order = count()
        self.processes: list[Process] = []
        for _ in range(self.size):
            self.hire(0.0)
        self.weather, self.operator = Weather(self), Operator(self)
        for actor in (self.weather, self.operator, Chores(self)):
            self.schedule(actor, 1.0)

    def run(self, calm: Sight | None) -> str:
        """To the end; what broke, in words. `calm`: how an undisturbed run of the same site ends."""
        try:
            for _ in range(ACTS_MAX):
                if self._is_over():
                    self.witness.check_the_end(None if self.witness.last.status == "cancelled" else calm)
                    return ""
                self._step()
            raise Broken(f"L13: no end after {ACTS_MAX} acts: {self.witness.last}")
        except (AssertionError, HoldfastError) as error:
            self.note(f"{type(error).__name__}: {error}")
            return self.story[-1]

    def _step(self) -> None:
        at_ms, _, actor = heappop(self._queue)
        self.clock.advance(max(0, at_ms - self.clock.monotonic_ms()) / 1000)
        if actor.is_dead:
            return
        calls = self.log.calls
        rest_s = actor.act()
        if not actor.is_dead:
            self.schedule(actor, rest_s)
        if self.log.calls != calls:
            self.witness.check(self.processes)
            self.is_rough = self.is_rough and self.log.calls < ROUGH_ACTS

    def _is_over(self) -> bool:
        status = self.witness.last.status
        asleep = any(process.asleep_until_ms or process.rude for process in self.processes)
        return status in ("completed", "cancelled") and not asleep and self.operator.is_done()

    # What actors ask of it

    def schedule(self, actor: Actor, rest_s: float) -> None:
        heappush(self._queue, (self.clock.monotonic_ms() + round(rest_s * 1000), next(self._order), actor))

    def hire(self, after_s: float) -> None:
        process = Process(self, self._connections[len(self.processes) % len(self._connections)])
        self.processes.append(process)
        self.schedule(process, after_s + self._chance.random())

    def bury(self, process: Process) -> None:
        self.processes.remove(process)
        self.hire(self.choose(0.0, 4.0, 20.0))

    def draw(self, share: float) -> bool:
        return self._chance.random() < share

    def choose(self, *things: Any) -> Any:
        return self._chance.choice(things)

    def call(self, process: Process, verb: str, ask: Callable[[], Any]) -> Any:
        doomed = process.is_doomed and not self.weather.is_spared(process)
        lost = verb in LOSABLE and (doomed or (self.is_rough and self.draw(LOST_SHARE)))
        try:
            if lost:
                faults.arm(f"{verb}.{self.choose('before', 'after')}_commit:1:unknown")
            answer = ask()
        except LedgerUnavailable as error:
            self.note(f"{verb}: {error.message}", process)
            self.hits["lost"] += 1
            if doomed:
                self.hits["killed"] += 1
                process.die("dies in a call")
            raise Lost from error
        finally:
            faults.arm("")
        return answer

    def note(self, what: str, process: Process | None = None) -> None:
        who = "" if process is None else f"pid {process.pid} "
        self.story.append(f"{self.clock.monotonic_ms() / 1000:.2f} {who}{what}")
