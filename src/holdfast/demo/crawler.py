"""One crawl command that is started as often as needed, killed when told to, and looked at each time it died.

Used by the demo and the selftest. It gathers what happened and judges nothing.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand, now_ns
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import Sighting, sight
from holdfast.demo.stretch import Stretch

STRETCH_S_MAX = 300.0
READ_S_MAX = 120.0

Until = Callable[[ChildCommand], bool]


@dataclass(slots=True)
class Crawler:
    """`words` are the whole command line after `holdfast`: the `order`, and `where`, which every command needs."""

    world: WorldServer
    asks: Asks
    seed_url: str
    settings: Settings
    folder: Path
    where: Sequence[str]
    pace: Sequence[str]
    last_words: str = ""
    _started: int = field(default=0)

    @property
    def order(self) -> list[str]:
        return ["crawl", self.seed_url, *self.pace, "--allow", self.world.address]

    @property
    def words(self) -> list[str]:
        return [*self.order, *self.where]

    def stretch(self, until: Until, *, fault: str = "") -> Stretch:
        """One start, killed as soon as `until` holds or by the named fault, unless it came to its own end before."""
        first = self.asks.look()
        with self._start(self.words, {"HOLDFAST_FAULT": fault} if fault else None) as crawl:
            crawl.wait_for(lambda: until(crawl), seconds=STRETCH_S_MAX)
            killed = crawl.kill() if crawl.code is None else crawl.code == -signal.SIGKILL
            self.last_words = crawl.err
        self.world.ready()  # one round trip: what the dead process had sent is in the log when it returns
        return Stretch(
            pid=crawl.pid,
            began_ns=crawl.began_ns,
            ended_ns=now_ns(),
            asks=self.asks.since(first),
            code=crawl.wait(0),
            left=self.look() if killed else None,
        )

    def look(self) -> Sighting | None:
        return sight(self.settings, self.seed_url)

    def export(self, end: Sighting | None, path: Path) -> list[tuple[str, str]]:
        """(url, sha256) of each line that `holdfast export` wrote; nothing where it failed."""
        if end is None or self._done(["export", end.job.uid, "-o", str(path), "--format", "jsonl"]) != 0:
            return []
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        return [(line["url"], line["sha256"]) for line in lines]

    def verify(self, end: Sighting | None) -> int:
        """The exit code of `holdfast verify`."""
        return 1 if end is None else self._done(["verify", end.job.uid])

    def then(self, words: Sequence[str]) -> int:
        """The exit code of a further command on the same data."""
        return self._done(list(words))

    def _done(self, words: list[str]) -> int:
        with self._start([*words, *self.where]) as command:
            code = command.wait(READ_S_MAX)
            self.last_words = self.last_words if code == 0 else command.err + command.out
        return code

    def start(self) -> ChildCommand:
        """The crawl, to be killed in another way than `stretch` does."""
        return self._start(self.words)

    def _start(self, words: list[str], environ: Mapping[str, str] | None = None) -> ChildCommand:
        self._started += 1
        return ChildCommand(words, said=self.folder / f"said-{self._started}", environ=environ)
