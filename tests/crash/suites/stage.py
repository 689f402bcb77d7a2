"""What the trials of a suite share: one small world, one calm crawl of it, one fork server; and the laws after a fault.

A trial is a scene on this stage: the crawl with a fault, then the same command until it ends, then the checkers.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import gcd
from pathlib import Path

from crash.scene import CONCURRENCY, Calm, Scene
from forked import Child, ForkServer
from holdfast.demo.asks import Asks
from holdfast.demo.command import now_ns
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import sight
from holdfast.demo.stretch import Stretch, asked_again, asked_when_settled, asked_without_cause
from holdfast.testing.postgres import temporary_postgres
from servers import fresh_schema

PAGES = 48
DELAY_MS = 5
END_S_MAX = 60.0
WORKLOAD = f"tree of {PAGES} pages, {CONCURRENCY} at a time"
_SAID = re.compile(r"\bsucceeded=(\d+)")

Database = Callable[[], AbstractContextManager[str]]  # one for each scene
Ledger = Callable[[], AbstractContextManager[Database]]  # one for each suite


@dataclass(frozen=True)
class Stage:
    world: WorldServer
    asks: Asks
    fork_server: ForkServer
    database: Database
    calm: Calm | None = None

    @contextmanager
    def scene(self, folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[Scene]:
        with self.database() as url:
            made = Scene(self.world, folder, self.asks, url, self.fork_server.start, environ or {})
            try:
                yield made
            finally:
                made.close()

    def broken_by(self, scene: Scene, stretches: Sequence[Stretch]) -> str:
        """What does not hold after the faults and one undisturbed start of the same command; empty is good."""
        assert self.calm is not None
        last = self.stretch(scene, scene.crawl)
        all_of = [*stretches, last]
        killed = all(stretch.code == -signal.SIGKILL for stretch in stretches)
        found = {
            "the same command then ended with": "" if last.code == 0 else f"{last.code}: {scene.started[-1].err}",
            "asked for though settled": asked_when_settled(all_of),
            "asked again without cause": asked_without_cause(all_of) if killed else "",
            "asked again too often": [len(n) for n in asked_again(all_of) if len(n) > 2 * CONCURRENCY],
            "the end": "" if last.code else self.calm.broken_by(scene),
        }
        return "; ".join(f"{what}: {which}" for what, which in found.items() if which)

    def stretch(self, scene: Scene, start: Callable[[], Child]) -> Stretch:
        """One start, up to its end, whatever it dies of, and what it left.

        L1 is asserted here: what it had said to be done is done in the ledger that it left.
        """
        first = len(scene.asks())
        child = start()
        code = child.wait(END_S_MAX)
        self.world.set_faults()  # one round trip: what the dead process had sent is in the log when it returns
        left = sight(scene.settings, scene.seed_url)
        said = max((int(number) for number in _SAID.findall(child.err)), default=0)
        kept = 0 if left is None else left.counts.succeeded
        assert said <= kept, f"{said} pages were said to be done, {kept} were kept"
        asks = tuple(scene.asks()[first:])
        return Stretch(pid=child.pid, began_ns=child.began_ns, ended_ns=now_ns(), asks=asks, code=code, left=left)


@contextmanager
def staged(
    folder: Path, *, pages: int = PAGES, delay_ms: int = DELAY_MS, database: Database | None = None
) -> Iterator[Stage]:
    """A world of its own, crawled once in calm."""
    log = folder / "requests.jsonl"
    with (
        WorldServer("tree", log_path=log, pages=pages, delay_ms=delay_ms) as world,
        Asks(log) as asks,
        ForkServer() as fork_server,
    ):
        bare = Stage(world, asks, fork_server, database or sqlite)
        (folder / "calm").mkdir()
        with bare.scene(folder / "calm") as scene:
            crawl = scene.crawled()
            assert crawl.code == 0, crawl.err
            calm = Calm(scene.look(), scene.exported())
        wanted = {row["url"]: row["sha256"] for row in world.oracle()["pages"]}
        assert {row.url: row.sha256 for row in calm.end.seen} == wanted, "the calm run is not what the world has"
        yield Stage(world, asks, fork_server, bare.database, calm)


@contextmanager
def sqlite() -> Iterator[str]:
    yield "sqlite"


@contextmanager
def on_sqlite() -> Iterator[Database]:
    yield sqlite


@contextmanager
def on_postgres() -> Iterator[Database]:
    """A cluster for the suite, a schema for each scene."""
    with temporary_postgres() as cluster:
        yield lambda: fresh_schema(cluster.url)


def spread(seed: int, total: int) -> int:
    """The seed-th of so many points, in an order in which any first few lie all over."""
    stride = next(step for step in range(round(total * 0.618) or 1, 2 * total + 2) if gcd(step, total) == 1)
    return seed * stride % total
