"""The standard proof of a world: crawl it, kill that at random moments, resume until done, compare with the oracle.

Everything is done by the command line and judged by the world's own log and the ledger's rows.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.crawler import Crawler
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import looking
from holdfast.demo.stretch import Stretch
from holdfast.model.target import TargetRow

KILLS = int(os.environ.get("HOLDFAST_WORLD_KILLS", "2"))  # 20 in `make worlds-long`
ATTEMPTS_MAX = 3
FINISHED = (0, 3)
STARTS_MAX = 60


@dataclass
class Proof:
    """One crawl of a world, and what it came to."""

    world: WorldServer
    crawler: Crawler
    settings: Settings
    stretches: list[Stretch] = field(default_factory=list)

    def run(self, kills: int = KILLS, *, seed: int = 0, pages: int = 150) -> None:
        """So many kills, each after a random number of requests; then on until it is done."""
        dice = random.Random(seed)
        for _ in range(kills):
            enough = self.crawler.asks.look() + dice.randint(5, max(10, 2 * pages // (kills + 1)))
            last = self.crawler.stretch(lambda _, enough=enough: self.crawler.asks.look() >= enough)  # type: ignore[misc]
            self.stretches.append(last)
            if last.code in FINISHED:
                break
        while self.stretches[-1].code not in FINISHED if self.stretches else True:
            assert len(self.stretches) < STARTS_MAX, self.crawler.last_words
            self.stretches.append(self.crawler.stretch(lambda _: False))
            assert self.stretches[-1].code in FINISHED, self.crawler.last_words

    def run_phases(self, kills: Sequence[str], *, seed: int = 0, pages: int = 150) -> None:
        """Killed once per word: after some requests (`asked`), or by a fault such as `settle.after_commit:2`; then on
        until it is done."""
        dice = random.Random(seed)
        for kill in kills:
            if kill == "asked":
                enough = self.crawler.asks.look() + dice.randint(5, max(6, pages // (1 + kills.count(kill))))
                last = self.crawler.stretch(lambda _, enough=enough: self.crawler.asks.look() >= enough)  # type: ignore[misc]
            else:
                last = self.crawler.stretch(lambda _: False, fault=f"{kill}:kill")
            self.stretches.append(last)
            if last.code in FINISHED:
                return
        self.run(0)

    @property
    def name(self) -> str:
        """The job's, as its options say it."""
        return self.crawler.pace[self.crawler.pace.index("--name") + 1]

    @property
    def killed(self) -> int:
        return sum(each.left is not None for each in self.stretches)

    @property
    def told(self) -> str:
        """The kills by phase, and what they cost: seen with `pytest -s` or `-rP`."""
        phases = Counter(each.left.job.phase for each in self.stretches if each.left is not None)
        beyond = sum(n - 1 for n in self.asked().values())
        return f"kills {self.killed}: {dict(phases)}; {len(self.asked())} URLs asked for, {beyond} requests beyond once"

    def rows(self) -> dict[str, TargetRow]:
        with looking(self.settings, live=False) as ledger:
            (job,) = ledger.jobs()
            found: list[TargetRow] = []
            while part := ledger.targets(job.id, after=found[-1].id if found else 0, limit=1000):
                found += part
            return {row.url: row for row in found}

    def asked(self) -> Counter[str]:
        """Requests by URL, robots.txt aside: it is asked for by every process that begins."""
        return Counter(ask["key"] for ask in self.world.asks() if urlsplit(ask["key"]).path != "/robots.txt")

    def balances(self) -> None:
        """L1: the parts are the whole; `holdfast verify` says so too."""
        end = self.crawler.look()
        assert end is not None
        assert end.balances, end.books
        assert self.crawler.verify(end) == 0, self.crawler.last_words

    def bounded(self, provoked: int) -> None:
        """Requests per key ≤ 1 + retries the world provoked + in flight at the kills."""
        held = Counter(url for each in self.stretches for url in each.held)
        over = {url: n for url, n in self.asked().items() if n > 1 + provoked + held[url]}
        assert not over, over

    def asked_for_no_oracle(self) -> None:
        """Recipes never ask for `/__world/`."""
        assert not [url for url in self.rows() if "/__world/" in url]


@contextmanager
def proving(
    name: str, folder: Path, *, database: str = "", seed: int = 7, dial: str = "calm", options: tuple[str, ...] = (),
    start: str = "/", port: int = 0,
) -> Iterator[Proof]:  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "requests.jsonl"
    log.touch()
    with WorldServer(name, log_path=log, seed=seed, delay_ms=0, port=port) as world, Asks(log) as asks:
        world.set_faults(dial=dial)
        settings = Settings(data=folder / "data", **({"database_url": database} if database else {}))
        where = ["--data", str(settings.data), *(["--database", database] if database else [])]
        pace = ["--delay", "0", "--per-host", "8", *options]
        yield Proof(world, Crawler(world, asks, world.url + start, settings, folder, where, pace), settings)


def summary(rows: dict[str, TargetRow], base: str) -> dict[str, Any]:
    """URL -> what became of it, for messages that can be read."""
    return {url.removeprefix(base): (row.status, row.disposition, row.rule) for url, row in rows.items()}
