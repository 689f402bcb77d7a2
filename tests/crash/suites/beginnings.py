"""Crawls that can be traced from their first call on: what each finds in its data folder, and how it is started.

`when=n` of strace counts per thread. So a first start is followed in its main thread only, where every n is reached,
and what the other threads do is reached in crawls whose main thread does little before them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from crash.scene import Scene
from crash.suites.stage import PAGES, Stage, spread
from crash.suites.strace import Injection, Trace, counts
from forked import Child


@dataclass(frozen=True)
class Beginning:
    """What a traced crawl finds in its data folder, and whether the threads that it starts are followed."""

    name: str
    threads: bool
    data: Path | None = None

    def put(self, scene: Scene) -> None:
        if self.data is not None:
            shutil.copytree(self.data, scene.settings.data)


@dataclass(frozen=True)
class Point:
    """The n-th call of one name after one beginning."""

    beginning: Beginning
    call: str
    n: int

    def __str__(self) -> str:
        return f"{self.call} {self.n} of {self.beginning.name}"


def beginnings(stage: Stage, folder: Path) -> tuple[Beginning, ...]:
    """Nothing at all; a job that nobody has worked yet; a job whose worker was killed in its middle."""
    folders = [folder / name for name in ("submitted", "killed")]
    for place in folders:
        place.mkdir()
    with stage.scene(folders[0]) as scene:
        assert scene.run(*scene.crawler.order, "--start-paused").code == 0
    with stage.scene(folders[1]) as scene:
        crawl = scene.crawl()
        scene.await_asks(PAGES // 2)
        assert crawl.kill()
    return (
        Beginning("a first start", threads=False),
        Beginning("a submitted job", threads=True, data=folders[0] / "data"),
        Beginning("a job of a killed process", threads=True, data=folders[1] / "data"),
    )


class Traced:
    """One crawl under strace: `start` it, and read its trace when it has ended."""

    def __init__(
        self, stage: Stage, scene: Scene, beginning: Beginning, calls: Sequence[str], injection: Injection | None = None
    ) -> None:
        self._stage, self._scene, self._beginning = stage, scene, beginning
        self._calls, self._injection = calls, injection
        self._trace: Trace | None = None
        beginning.put(scene)

    def start(self) -> Child:
        scene = self._scene
        child = self._stage.fork_server.start(scene.crawler.words, said=scene.folder / "traced", stopped=True)
        scene.started.append(child)
        self._trace = Trace(
            child, scene.folder / "trace", self._calls, self._injection, threads=self._beginning.threads
        )
        return child

    def lines(self) -> list[str]:
        assert self._trace is not None
        return self._trace.ended()


def points(stage: Stage, folder: Path, calls: tuple[str, ...]) -> list[Point]:
    """Every call that can be reached, by dry runs; any first few are of every kind."""
    groups = [
        [Point(beginning, call, 1 + (most // 2 + spread(k, most)) % most) for k in range(most)]
        for beginning in beginnings(stage, folder)
        for call, most in sorted(_counted(stage, folder, beginning, calls).items())
    ]
    return [point for point in chain.from_iterable(zip_longest(*groups)) if point is not None]


def _counted(stage: Stage, folder: Path, beginning: Beginning, calls: tuple[str, ...]) -> dict[str, int]:
    """How far each call can be counted."""
    place = folder / beginning.name.replace(" ", "-")
    place.mkdir()
    with stage.scene(place) as scene:
        crawl = Traced(stage, scene, beginning, calls)
        stretch = stage.stretch(scene, crawl.start)
        assert stretch.code == 0, scene.started[-1].err
        return dict(counts(crawl.lines()))
