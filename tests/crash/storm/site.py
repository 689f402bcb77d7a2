"""What the simulated job is about: a few pages on a few hosts, their links, and how each of them ends. Pure.

How a page ends depends on its number alone, never on who works it or when, so every order of events that is lawful ends
with the same results.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance import verdicts
from conformance.bench import Bench
from holdfast.model.outcome import Verdict
from holdfast.model.target import Claimed, Found

SHAPES = 8
PLANNED = (0, 1, 2)
HOSTS = 8
CHUNKS_PER_HOST = 2  # pages lie in every second chunk, so that few leases mean few pages
ATTEMPTS_MAX = 3
FLAKY_WAIT_MS, HOPELESS_WAIT_MS = 1_500, 700
ENDS = ("succeed", "fail", "succeed", "flaky", "succeed", "skip", "succeed", "hopeless", "succeed", "succeed")


@dataclass(frozen=True)
class Site:
    """One of some shapes. The last has a page that kills whatever process works it."""

    shape: int

    @property
    def pages(self) -> int:
        return 10 + self.shape % 3 * 2

    @property
    def killer(self) -> int | None:
        return 5 if self.shape == SHAPES - 1 else None

    def ends(self, page: int) -> str:
        if page == self.killer:
            return "kill"
        return "succeed" if page == 0 else ENDS[(page * 3 + self.shape) % len(ENDS)]

    def links(self, page: int) -> list[int]:
        """Most pages are linked from two others, and all are found soon."""
        later = range(len(PLANNED), self.pages)
        return [n for n in later if page in (n % len(PLANNED), n // 2)]

    def found(self, bench: Bench, page: int, depth: int) -> Found:
        host = page % HOSTS
        url = f"https://h{host}.test/{page}"
        return bench.found(url, index=host * CHUNKS_PER_HOST, rank=page, depth=depth)

    def kills(self, here: Claimed) -> bool:
        return page_of(here.url) == self.killer

    def verdict(self, bench: Bench, here: Claimed) -> Verdict:
        """What a process makes of a page that it has worked to its end."""
        page = page_of(here.url)
        how = self.ends(page)
        if how == "flaky" and here.attempts == 1:
            return verdicts.retry(here, wait_ms=FLAKY_WAIT_MS)
        if how == "hopeless" and here.attempts < ATTEMPTS_MAX:
            return verdicts.retry(here, wait_ms=HOPELESS_WAIT_MS)
        if how in ("fail", "hopeless"):
            return verdicts.fail(here)
        found = tuple(self.found(bench, link, here.depth + 1) for link in self.links(page))
        return verdicts.skip(here, found=found) if how == "skip" else verdicts.page(here, found=found)


def page_of(url: str) -> int:
    return int(url.rpartition("/")[2])
