"""What a contestant is handed and what it answers: values only, nothing runs here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import Watch

OUTPUT = "said.out"  # what the crawler printed, in its folder


@dataclass(frozen=True, slots=True)
class Arena:
    """A site to crawl, where its server is, how many pages it has, and an empty folder of one's own."""

    start: str
    at: str
    pages: int
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """One crawl about to run. `result` is asked after its end: the pages it got, and facts to keep beside the numbers.

    `ours` are CPU counters of helpers that belong to the run but are not the crawler's.
    """

    argv: list[str]
    result: Callable[[], tuple[int, dict[str, Any]]]
    watches: tuple[Watch, ...] = ()
    ours: tuple[Callable[[], float], ...] = ()


@dataclass(frozen=True, slots=True)
class Contestant:
    """`name` is the word of --only; `enter` sets up what the crawl needs and takes it down again."""

    name: str
    title: str
    durable: str
    enter: Callable[[Arena], AbstractContextManager[Crawl]]
