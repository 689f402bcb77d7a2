"""Rounds: every contestant crawls the one-page site and then the whole one, in turns, so that noise meets all alike.

A contestant that did not get every page ends the benchmark: numbers of a partial crawl are worth nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.contestants.crawl import OUTPUT, Arena, Contestant
from bench.measure import Measured, measured
from bench.nginx import Nginx
from bench.site import FIRST, make_site

OUTPUT_TAIL = 2000


class RoundFailed(Exception):
    """A contestant failed, or did not get every page."""


@dataclass(frozen=True, slots=True)
class Served:
    """A site that is being served."""

    server: Nginx
    pages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Lap:
    """One contestant in one round: the whole site, the start-up apart, and the server's CPU meanwhile."""

    contestant: str
    round: int
    pages: int
    whole: Measured
    startup: Measured
    nginx_cpu_s: float
    facts: dict[str, Any]


@contextmanager
def served(folder: Path, pages: int) -> Iterator[Served]:
    root = folder / f"site-{pages}"
    size = make_site(root, pages)
    with Nginx(root, folder / f"nginx-{pages}") as server:
        yield Served(server, pages, size)


def run_rounds(
    contestants: Sequence[Contestant], rounds: int, site: Served, one: Served, folder: Path, tell: Callable[[Lap], None]
) -> list[Lap]:
    """All laps. Every second round goes backwards, so that nobody always follows the same neighbour.

    Before the first, everybody crawls one page that is not counted: Python compiles what it imports for the first time.
    """
    laps = []
    for contestant in contestants:
        _crawl(contestant, one, folder)
    for number in range(1, rounds + 1):
        for contestant in contestants if number % 2 else reversed(contestants):
            laps.append(lap := run_lap(contestant, number, site, one, folder))
            tell(lap)
    return laps


def run_lap(contestant: Contestant, number: int, site: Served, one: Served, folder: Path) -> Lap:
    startup, _, _ = _crawl(contestant, one, folder)
    whole, nginx_cpu_s, facts = _crawl(contestant, site, folder)
    return Lap(contestant.name, number, site.pages, whole, startup, nginx_cpu_s, facts)


def _crawl(contestant: Contestant, site: Served, folder: Path) -> tuple[Measured, float, dict[str, Any]]:
    """One crawl in an empty folder, which is removed again unless the crawl failed."""
    place = folder / f"lap-{contestant.name}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    arena = Arena(site.server.url + FIRST, site.server.at, site.pages, place)
    output = place / OUTPUT
    with contestant.enter(arena) as crawl:
        os.sync()  # what the one before left to be written is not paid by the next one's fsync
        before_s = site.server.cpu_s()
        cost = measured(crawl.argv, output=output, watches=crawl.watches, ours=(site.server.cpu_s, *crawl.ours))
        nginx_cpu_s = site.server.cpu_s() - before_s
        if cost.exit != 0:
            raise RoundFailed(f"{contestant.title} ended with {cost.exit}:\n{_tail(output)}")
        pages, facts = crawl.result()
    if pages != site.pages:
        raise RoundFailed(f"{contestant.title} got {pages} of {site.pages} pages:\n{_tail(output)}")
    shutil.rmtree(place)
    return cost, nginx_cpu_s, facts


def _tail(output: Path) -> str:
    files = [output, output.with_suffix(".err")]
    return "\n".join(file.read_text(errors="replace")[-OUTPUT_TAIL:] for file in files if file.exists())


def tell_on_terminal(lap: Lap) -> None:
    rate, cpu = lap.pages / lap.whole.wall_s, lap.whole.cpu_s / lap.pages * 1000
    noise = f", others {lap.whole.others_share:.0%} of the cores" if lap.whole.others_share > 0.05 else ""
    print(
        f"round {lap.round}  {lap.contestant:10} {rate:7.0f} pages/s  {cpu:6.3f} CPU s per 1000 "
        f"({lap.startup.cpu_s:.2f} s start-up)  {lap.whole.peak_mb:4.0f} MB{noise}",
        file=sys.stderr,
        flush=True,
    )
