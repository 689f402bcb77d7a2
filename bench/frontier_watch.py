"""`holdfast resume` watched from outside: the server's log for time and pages, /proc for CPU and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.frontier_fill import NAME
from bench.frontier_place import Place
from bench.measure import Memory, busy_s, cpu_s_of
from holdfast.config import Settings

LOOK_EVERY_S = 0.002
PATIENCE_S = 120.0
PAGES_BEFORE_KILL = 64


class NoProgress(Exception):
    """Nothing was asked of the server for a long time."""


class Log:
    """How many requests the server has logged; only what is new is read."""

    def __init__(self, path: Path) -> None:
        self._handle = path.open("rb")
        self._handle.seek(0, os.SEEK_END)
        self.count = 0

    def look(self) -> int:
        self.count += self._handle.read().count(b"\n")
        return self.count

    def close(self) -> None:
        self._handle.close()


class Noise:
    """What share of all cores other processes took since this was made: not ours, nor our children's, nor `ours`."""

    def __init__(self, *ours: Callable[[], float]) -> None:
        self._ours = (lambda: sum(os.times()[:4]), *ours)
        self._began, self._before = time.monotonic(), busy_s() - self._used()

    def share(self) -> float:
        spent = busy_s() - self._used() - self._before
        return max(0.0, spent / (time.monotonic() - self._began) / (os.cpu_count() or 1))

    def _used(self) -> float:
        return sum(counter() for counter in self._ours)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of one crawl. CPU in seconds per 1000 pages: of Holdfast, and of a database server beside it."""

    pages: int
    wall_s: float
    cpu_per_1000: float
    server_cpu_per_1000: float
    peak_mb: float


def command(settings: Settings, *words: str) -> list[str]:
    place = ["--data", str(settings.data), "--database", settings.database_url]
    return [sys.executable, "-m", "holdfast", *words, *place]


class Crawl:
    """A running `holdfast resume`. Leaving the context kills it."""

    def __init__(self, place: Place, log: Path) -> None:
        self.log, self.memory = Log(log), Memory()
        argv = command(place.settings, "resume", NAME, "--plain")
        with place.output.open("ab") as sink:
            self.began = time.monotonic()
            self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        self.pid = self._child.pid

    def wait_for(self, pages: int) -> float:
        """Until that many requests are logged; the moment at which they were seen."""
        deadline = time.monotonic() + PATIENCE_S
        while self.log.look() < pages:
            if self._child.poll() is not None or time.monotonic() > deadline:
                raise NoProgress(f"{self.log.count} of {pages} pages were asked for; exit {self._child.returncode}")
            time.sleep(LOOK_EVERY_S)
        seen = time.monotonic()
        self.memory.look(self.pid)
        return seen

    def interrupt(self) -> None:
        """Ctrl-C, and wait until it is paused."""
        self._child.send_signal(signal.SIGINT)
        self._child.wait(PATIENCE_S)

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()
        self.log.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def first_fetch_s(place: Place, log: Path) -> tuple[float, float]:
    """Exec to the first new request, then kill -9 in the middle of the crawl: (seconds, peak MB)."""
    with Crawl(place, log) as crawl:
        first = crawl.wait_for(1)
        crawl.wait_for(PAGES_BEFORE_KILL)
        return first - crawl.began, crawl.memory.peak_mb


def stretch(place: Place, log: Path, *, warm: int, pages: int) -> Stretch:
    """A crawl between two counts of requests: start-up and the cold caches of its first pages are left out."""
    with Crawl(place, log) as crawl:
        begun = crawl.wait_for(warm)
        cpu, server, before = cpu_s_of(crawl.pid), place.server_cpu_s(), crawl.log.count
        ended = crawl.wait_for(before + pages)
        cpu, server, done = cpu_s_of(crawl.pid) - cpu, place.server_cpu_s() - server, crawl.log.count - before
        crawl.interrupt()
    thousands = done / 1000
    return Stretch(done, ended - begun, cpu / thousands, server / thousands, crawl.memory.peak_mb)
