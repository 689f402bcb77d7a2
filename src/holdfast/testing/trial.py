"""One crawl of the tree that is killed again and again: starts the command, kills it, looks, starts it once more.

It gathers evidence and judges nothing. The process it kills is the real command; the witness is the site's own log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import now_ns
from holdfast.demo.crawler import Crawler, Until
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import Sighting
from holdfast.demo.stretch import Stretch

CONCURRENCY = 8
DELAY_MS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do. The same plan kills after the same numbers of requests; for which pages, the race decides."""

    pages: int
    kills: int
    seed: int
    settings: Settings
    delay_ms: int = DELAY_MS

    def kill_points(self) -> list[int]:
        """How many requests each start may make before it is killed: random, and together fewer than the pages."""
        source, left, points = Random(self.seed), self.pages, []
        for to_come in range(self.kills, 0, -1):
            points.append(source.randint(1, max(1, min(2 * left // (to_come + 1), left - to_come))))
            left -= points[-1]
        return points


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen, to be judged. `exported` has a (url, sha256) per line; `words` are the last ones of a command."""

    stretches: list[Stretch]
    oracle: dict[str, str]
    end: Sighting | None
    exported: list[tuple[str, str]]
    verify_code: int
    words: str
    seconds: float


def attempt(plan: Plan, folder: Path, tell: Callable[[Stretch], None]) -> Evidence:
    """Crawl to the end in spite of the kills. An end that comes too early, too late or too ugly ends the trial too."""
    began_ns = now_ns()
    log = folder / "requests.jsonl"
    with WorldServer("tree", log_path=log, pages=plan.pages, delay_ms=plan.delay_ms) as world, Asks(log) as asks:
        crawler = _crawler(plan, folder, world, asks)
        stretches: list[Stretch] = []
        for point in [*plan.kill_points(), None]:
            stretches.append(crawler.stretch(_at_request(point, asks)))
            tell(stretches[-1])
            if stretches[-1].code >= 0:
                break
        end = crawler.look()
        return Evidence(
            stretches=stretches,
            oracle={row["url"]: row["sha256"] for row in world.oracle()["pages"]},
            end=end,
            exported=crawler.export(end, folder / "pages.jsonl"),
            verify_code=crawler.verify(end),
            words=crawler.last_words,
            seconds=(now_ns() - began_ns) / 1e9,
        )


def _crawler(plan: Plan, folder: Path, world: WorldServer, asks: Asks) -> Crawler:
    return Crawler(
        world=world,
        asks=asks,
        seed_url=f"{world.url}/p/0",
        settings=plan.settings,
        folder=folder,
        where=["--data", str(plan.settings.data), "--database", plan.settings.database_url],
        pace=["--delay", "0", "--per-host", str(CONCURRENCY), "--concurrency", str(CONCURRENCY), "--plain"],
    )


def _at_request(number: int | None, asks: Asks) -> Until:
    """Holds from the so-many-th request on; with None never."""
    if number is None:
        return lambda _: False
    first = asks.look()
    return lambda _: asks.look() - first >= number
