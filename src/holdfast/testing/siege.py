"""A crawl of several processes under siege: a kill takes one worker while the others go on, or all at once.

It gathers what happened and judges nothing. A stretch goes from one kill to the next.
"""

from __future__ import annotations

import os
import signal
from random import Random
from types import TracebackType
from typing import Self

from holdfast.audit.witness import Ask
from holdfast.demo.command import ChildCommand, is_gone_soon, now_ns
from holdfast.demo.crawler import STRETCH_S_MAX, Crawler
from holdfast.demo.sighting import sight_fallen
from holdfast.demo.stretch import Stretch

KILLED = -signal.SIGKILL


class Siege:
    """The same command, started anew whenever all of it was killed."""

    def __init__(self, crawler: Crawler, random: Random) -> None:
        self._crawler, self._random = crawler, random
        self._crawl: ChildCommand | None = None
        self._first = crawler.asks.look()
        self._began_ns = 0

    def stretch(self, requests: int | None, *, takes_all: bool) -> Stretch:
        """Up to so many requests since the last kill, then the kill; with None to the command's own end."""
        is_start = self._crawl is None
        crawl = self._crawl = self._crawl or self._crawler.start()
        self._began_ns = crawl.began_ns if is_start else self._began_ns
        crawl.wait_for(lambda: self._is_time(crawl, requests, takes_all), seconds=STRETCH_S_MAX)
        if crawl.code is not None:
            return self._ended(crawl, is_start)
        return self._all_killed(crawl, is_start) if takes_all else self._one_killed(crawl, is_start)

    def _is_time(self, crawl: ChildCommand, requests: int | None, takes_all: bool) -> bool:
        if requests is None or self._crawler.asks.look() - self._first < requests:
            return False
        return takes_all or bool(crawl.workers())

    def _one_killed(self, crawl: ChildCommand, is_start: bool) -> Stretch:
        pid = self._random.choice(sorted(crawl.workers()))
        killed_ns = now_ns()
        os.kill(pid, signal.SIGKILL)
        gone = is_gone_soon(pid)
        self._crawler.world.set_faults()  # one round trip: what the dead process had sent is in the log
        dead_ns = now_ns()
        asks = self._taken()
        seen = sight_fallen(self._crawler.settings, self._crawler.seed_url, pid)
        began_ns, self._began_ns = self._began_ns, killed_ns
        return Stretch(
            pid=pid,
            began_ns=began_ns,
            # Not before the look is over: what was settled meanwhile by the others may have been asked for meanwhile.
            ended_ns=now_ns(),
            asks=asks,
            code=KILLED if gone else 0,
            left=seen[0] if seen else None,
            killed_ns=killed_ns,
            dead_ns=dead_ns,
            fallen=seen[1] if seen else None,
            is_start=is_start,
        )

    def _all_killed(self, crawl: ChildCommand, is_start: bool) -> Stretch:
        killed_ns = now_ns()
        gone = crawl.kill_all()
        self._crawl, self._crawler.last_words = None, crawl.err
        self._crawler.world.set_faults()
        dead_ns = now_ns()
        return Stretch(
            pid=crawl.pid,
            began_ns=self._began_ns,
            ended_ns=dead_ns,
            asks=self._taken(),
            code=KILLED if gone else 0,
            left=self._crawler.look(),
            killed_ns=killed_ns,
            dead_ns=dead_ns,
            is_start=is_start,
        )

    def _ended(self, crawl: ChildCommand, is_start: bool) -> Stretch:
        self._crawler.last_words = crawl.err
        return Stretch(
            pid=crawl.pid,
            began_ns=self._began_ns,
            ended_ns=now_ns(),
            asks=self._taken(),
            code=crawl.wait(0),
            is_start=is_start,
        )

    def _taken(self) -> tuple[Ask, ...]:
        asks = self._crawler.asks.since(self._first)
        self._first += len(asks)
        return asks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._crawl is not None:
            with self._crawl:
                return
