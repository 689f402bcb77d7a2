"""A job on a small site inside this process: real sessions on a real SQLite ledger, a web that is a function, and a
clock that can be pushed and runs fast. It tells what was asked for; it judges nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from engine.desk import MARSH, FunctionFetcher, MemoryBlobs, page
from holdfast.clock import SystemClock
from holdfast.engine import recovery
from holdfast.engine.liveness import boot_id
from holdfast.engine.session import Parts, Session
from holdfast.errors import FetchError
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.exchange import Response
from holdfast.model.job import JobSpec, Options
from holdfast.ports import Blobs, SessionEnd
from holdfast.recipes.site.recipe import SiteRecipe

PAGES = 60
RATE = 20  # seconds of the pond per second: a back-off of one second is soon over
LEASE_S = 600.0
FLAKY = frozenset({"/p/2", "/p/11", "/p/30"})  # may time out once: the second try waits for a moment of the wall clock
OPTIONS = Options(delay_ms=0, per_host=64, concurrency=8)


class PushedClock(SystemClock):
    """The computer's clocks, faster, and moved on by what a trial adds to them."""

    def __init__(self) -> None:
        self._wall_ms, self._began_ms = super().wall_ms(), super().monotonic_ms()
        self.wall_by_ms = self.monotonic_by_ms = 0

    def wall_ms(self) -> int:
        return self._wall_ms + self._run_ms() + self.wall_by_ms

    def monotonic_ms(self) -> int:
        return self._began_ms + self._run_ms() + self.monotonic_by_ms

    def _run_ms(self) -> int:
        return (super().monotonic_ms() - self._began_ms) * RATE


@dataclass
class Pond:
    """`leaps` says during which ask what happens. All sessions share clock, ledger and web."""

    folder: Path
    blobs: Callable[[], Blobs] = MemoryBlobs
    flaky: frozenset[str] = frozenset()
    leaps: dict[int, Callable[[], None]] = field(default_factory=dict)
    clock: PushedClock = field(default_factory=PushedClock)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = self._open()
        recipe = SiteRecipe(self.clock)
        params = recipe.check({"seeds": [f"{MARSH}/p/0"]})
        spec = JobSpec(
            recipe="site", name="pond", identity=recipe.identity(params), params=params, options=OPTIONS,
            chunking=recipe.chunking(params),
        )  # fmt: skip
        self.job = self.ledger.submit(spec)[0].id

    def session(self) -> Session:
        """The job made ready, and a process's work on it. One may run while another sleeps."""
        ledger = self._open()
        job = ledger.books(self.job)[0]
        row = recovery.outlook(ledger, job, recipe_known=True, asked=True)
        job = recovery.make_ready(ledger, job, row, actor="user")
        ledger.close()
        parts = Parts(
            open_ledger=self._open, open_fetcher=lambda _name: FunctionFetcher(self._answer), blobs=self.blobs(),
            recipe=SiteRecipe(self.clock), clock=self.clock, progress=lambda *_: None, has_room=lambda: True,
            make_room=lambda: None, random=Random(7), lease_s=LEASE_S, stop_deadline_s=5.0, trigger="cli",
        )  # fmt: skip
        return Session(job, parts)

    def run(self, *, seconds_max: float) -> SessionEnd:
        """One session to its end, or until so many real seconds have passed: then it ends as `interrupted`."""
        session = self.session()
        with _not_longer(session, seconds_max):
            return session.run()

    def meanwhile(self, *, seconds_max: float) -> None:
        """Another session, to its end, while the caller stands still."""
        thread = threading.Thread(target=self.run, kwargs={"seconds_max": seconds_max})
        thread.start()
        thread.join()

    def settled_twice(self) -> list[tuple[int]]:
        return self.ledger.query(
            "SELECT target FROM attempt WHERE outcome = 'succeeded' GROUP BY target HAVING count(*) > 1"
        )

    def close(self) -> None:
        self.ledger.close()

    def _open(self) -> SqliteLedger:
        return SqliteLedger.open(self.folder / "ledger.db", self.clock, boot_id())

    async def _answer(self, url: str) -> Response:
        path, is_first = url.removeprefix(MARSH), url not in self.asked
        self.asked.append(url)
        self.leaps.get(len(self.asked), lambda: None)()
        await asyncio.sleep(0)
        if path in self.flaky and is_first:
            raise FetchError("timeout", "no answer")
        n = int(path.rpartition("/")[2])
        return page(url, *(f"/p/{3 * n + k}" for k in (1, 2, 3) if 3 * n + k < PAGES))


@contextmanager
def _not_longer(session: Session, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, session.interrupt, ("drain",))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
