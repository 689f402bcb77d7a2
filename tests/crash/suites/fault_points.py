"""T3: every named fault point: kill at its first, second and last hit; raise, delay and an unknown outcome.

The list is the program's own. How often a crawl passes each point is counted by a dry run; a point that none of the
scenes here reaches is an error.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crash.scene import Scene
from crash.suites.stage import PAGES, WORKLOAD, Ledger, Stage, on_postgres, on_sqlite, staged
from crash.suites.suite import NoMorePoints, Suite, Trial
from forked import Child
from holdfast.cli import exits
from holdfast.faults import POINTS

EXPORT = "export.before_rename"
PAUSE = "pause.after_commit"
SEEDS = 10
OUT_OF_REACH = 1_000_000  # armed, so that hits are counted, and never reached
LAWFUL = {
    "kill": (-signal.SIGKILL,),
    "raise": (exits.UNEXPECTED, exits.OK),  # an error that nobody foresaw: a sentence, or a caller that knew better
    "delay": (exits.OK, exits.INTERRUPTED),
    "unknown": (exits.OK, exits.INTERRUPTED),
}


@dataclass(frozen=True)
class Armed:
    """One hit of one point, and what happens there."""

    name: str
    hit: int
    action: str

    @property
    def environ(self) -> dict[str, str]:
        return {"HOLDFAST_FAULT": f"{self.name}:{self.hit}:{self.action}"}

    def __str__(self) -> str:
        return f"{self.action} at hit {self.hit} of {self.name}"


def _staging(database: Ledger, folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with database() as url_of, staged(folder, database=url_of) as stage:
        known = _armings(stage, folder) * SEEDS

        def play_one(place: Path, seed: int) -> Trial:
            if seed >= len(known):
                raise NoMorePoints
            return _faulted(stage, place, seed, known[seed])

        yield play_one


def _armings(stage: Stage, folder: Path) -> list[Armed]:
    """Kill at the first, second and last hit, then the other actions at the first; spread over the points."""
    place = folder / "counting"
    place.mkdir()
    with stage.scene(place) as scene:
        scene.crawled(Armed(EXPORT, OUT_OF_REACH, "kill").environ)
        hits = scene.started[0].hits
    hits |= {EXPORT: 1, PAUSE: 1}
    assert set(hits) == set(POINTS), f"never passed: {set(POINTS) - set(hits)}"
    kills = [Armed(name, hit or most, "kill") for hit in (1, 2, 0) for name, most in sorted(hits.items())]
    reached = [each for each in dict.fromkeys(kills) if each.hit <= hits[each.name]]
    commits = [name for name in sorted(hits) if name.endswith(".after_commit")]
    return [
        *reached,
        *(Armed(name, 1, "unknown") for name in commits),
        *(Armed(name, 1, action) for action in ("raise", "delay") for name in sorted(hits) if name != EXPORT),
    ]


def _faulted(stage: Stage, place: Path, seed: int, armed: Armed) -> Trial:
    with stage.scene(place) as scene:
        if armed.name == EXPORT:
            return _export_killed(stage, scene, seed, armed)
        start = _paused if armed.name == PAUSE else _plainly
        stretch = stage.stretch(scene, lambda: start(scene, armed))
        said = scene.started[0].err
        if not _delivered(armed, scene.started[0]):
            return Trial(seed, str(armed), delivered=False)
        wrong = "" if stretch.code in LAWFUL[armed.action] else f"ended with {stretch.code}: {said}"
        broken = [wrong, stage.broken_by(scene, [stretch])]
        return Trial(seed, str(armed), delivered=True, broken="; ".join(filter(None, broken)))


def _delivered(armed: Armed, child: Child) -> bool:
    """By what it died of, or by its own count."""
    if armed.action == "kill":
        return child.code == -signal.SIGKILL
    return child.hits[armed.name] >= armed.hit


def _plainly(scene: Scene, armed: Armed) -> Child:
    return scene.crawl(armed.environ)


def _paused(scene: Scene, armed: Armed) -> Child:
    """A crawl that is told to pause in its middle."""
    scene.slow_down(20)
    child = scene.crawl(armed.environ)
    scene.await_asks(PAGES // 3)
    child.send(signal.SIGINT)
    return child


def _export_killed(stage: Stage, scene: Scene, seed: int, armed: Armed) -> Trial:
    """The old file stays whole, and the same export then writes the new one."""
    broken = stage.broken_by(scene, [])
    path = scene.folder / "old.jsonl"
    path.write_text("old")
    words = ("export", scene.job_name, "-o", str(path), "--format", "jsonl")
    killed = scene.run(*words, environ=armed.environ)
    if killed.code != -signal.SIGKILL:
        return Trial(seed, str(armed), delivered=False)
    torn = "" if path.read_text() == "old" else "the old file was touched"
    again = "" if scene.run(*words).code == 0 and path.read_text().count("\n") == PAGES else "the export did not go on"
    return Trial(seed, str(armed), delivered=True, broken="; ".join(filter(None, (broken, torn, again))))


def _suite(name: str, ledger: str, database: Ledger, small: int) -> Suite:
    return Suite(
        name=name,
        title=f"kill, raise, delay and unknown outcome at every fault point, on {ledger}",
        scope=f"{WORKLOAD}, {ledger}; {len(POINTS)} points, {SEEDS} times",
        stage=contextmanager(lambda folder: _staging(database, folder)),
        small=small,
        full=20_000,
    )


FAULT_POINTS = _suite("T3", "SQLite", on_sqlite, small=10)
FAULT_POINTS_PG = _suite("T3-pg", "PostgreSQL", on_postgres, small=6)
