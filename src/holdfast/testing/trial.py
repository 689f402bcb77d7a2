"""One crawl of the tree that is killed again and again: starts the command, kills it, looks, starts it once more.

It gathers evidence and judges nothing. The process it kills is the real command; the witness is the site's own log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

import msgspec

from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import now_ns
from holdfast.demo.crawler import Crawler, Until
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import Sighting, chunk_of_each
from holdfast.demo.stretch import Stretch
from holdfast.testing.siege import Siege

CONCURRENCY = 8
DELAY_MS = 20
LAST_SHARE = 10  # with several processes, a tenth of the pages is left for after the last kill


class TrialPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do. The same plan kills after the same numbers of requests; for which pages, the race decides.

    With several processes the numbers, too, depend on how far the others got while one was killed.
    """

    pages: int
    kills: int
    seed: int
    settings: Settings
    processes: int = 1
    delay_ms: int = DELAY_MS

    def kill_points(self) -> list[int]:
        """How many requests each start may make before it is killed: random, and together fewer than the pages."""
        source, left, points = Random(self.seed), self.pages, []
        for to_come in range(self.kills, 0, -1):
            points.append(_point(source, left, to_come))
            left -= points[-1]
        return points


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen, to be judged. `exported` has a (url, sha256) per line; `words` are the last ones of a command;
    `chunk_of` says in which part of the job each URL lies."""

    stretches: list[Stretch]
    oracle: dict[str, str]
    end: Sighting | None
    exported: list[tuple[str, str]]
    verify_code: int
    words: str
    seconds: float
    chunk_of: Mapping[str, int] = msgspec.field(default_factory=dict)


def attempt(plan: TrialPlan, folder: Path, tell: Callable[[Stretch], None]) -> Evidence:
    """Crawl to the end in spite of the kills. An end that comes too early, too late or too ugly ends the trial too."""
    began_ns = now_ns()
    log = folder / "requests.jsonl"
    with WorldServer("tree", log_path=log, pages=plan.pages, delay_ms=plan.delay_ms) as world, Asks(log) as asks:
        crawler = _crawler(plan, folder, world, asks)
        stretches: list[Stretch] = []
        for stretch in _killed_in_turns(plan, crawler) if plan.processes > 1 else _killed(plan, crawler):
            stretches.append(stretch)
            tell(stretch)
            if stretch.code >= 0:
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
            chunk_of=chunk_of_each(plan.settings, end.job.id) if end and plan.processes > 1 else {},
        )


def _killed(plan: TrialPlan, crawler: Crawler) -> Iterator[Stretch]:
    for point in [*plan.kill_points(), None]:
        yield crawler.stretch(_at_request(point, crawler.asks))


def _killed_in_turns(plan: TrialPlan, crawler: Crawler) -> Iterator[Stretch]:
    """One worker process, then all of them with their supervisor, in turns.

    The others go on while a death is looked at, so each point is drawn from what is left to be asked for by then.
    """
    source = Random(plan.seed)
    spare = plan.pages // LAST_SHARE
    with Siege(crawler, source) as siege:
        for n in range(plan.kills):
            left = plan.pages - len({ask["key"] for ask in crawler.asks.since(0)}) - spare
            yield siege.stretch(_point(source, left, plan.kills - n), takes_all=n % 2 == 1)
        yield siege.stretch(None, takes_all=False)


def _point(source: Random, left: int, to_come: int) -> int:
    """Random, and such that so many kills fit into what is left."""
    return source.randint(1, max(1, min(2 * left // (to_come + 1), left - to_come)))


def _crawler(plan: TrialPlan, folder: Path, world: WorldServer, asks: Asks) -> Crawler:
    pace = ["--delay", "0", "--per-host", str(CONCURRENCY), "--concurrency", str(CONCURRENCY), "--plain"]
    return Crawler(
        world=world,
        asks=asks,
        seed_url=f"{world.url}/p/0",
        settings=plan.settings,
        folder=folder,
        where=["--data", str(plan.settings.data), "--database", plan.settings.database_url],
        pace=[*pace, "--processes", str(plan.processes)] if plan.processes > 1 else pace,
    )


def _at_request(number: int | None, asks: Asks) -> Until:
    """Holds from the so-many-th request on; with None never."""
    if number is None:
        return lambda _: False
    first = asks.look()
    return lambda _: asks.look() - first >= number
