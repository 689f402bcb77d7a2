"""T4: SIGKILL at the k-th system call, for every call that matters and every k, by strace.

Three crawls are killed so: one that makes its ledger and submits, one of a job that is there, and one that takes up
what a killed process left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crash.suites.beginnings import Point, Traced, points
from crash.suites.stage import WORKLOAD, Stage, staged
from crash.suites.strace import Injection, was_killed_at
from crash.suites.suite import NoMorePoints, Suite, Trial

CALLS = (
    "write", "pwrite64", "fsync", "fdatasync", "rename", "openat", "ftruncate", "fallocate", "unlink", "mkdir",
    "fcntl", "close", "socket", "connect", "sendto",
)  # fmt: skip
KILL = "signal=SIGKILL"


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with staged(folder) as stage:
        known = points(stage, folder, CALLS)

        def play_one(place: Path, seed: int) -> Trial:
            if seed >= len(known):
                raise NoMorePoints
            return _killed(stage, place, seed, known[seed])

        yield play_one


def _killed(stage: Stage, place: Path, seed: int, point: Point) -> Trial:
    with stage.scene(place) as scene:
        injection = Injection(point.call, point.n, KILL)
        crawl = Traced(stage, scene, point.beginning, [point.call], injection)
        stretch = stage.stretch(scene, crawl.start)
        if not was_killed_at(crawl.lines(), point.call):
            return Trial(seed, f"SIGKILL at {point}", delivered=False)
        return Trial(seed, f"SIGKILL at {point}", delivered=True, broken=stage.broken_by(scene, [stretch]))


KILLED_AT_SYSCALL = Suite(
    name="T4",
    title="SIGKILL at the k-th system call",
    scope=f"{WORKLOAD}, SQLite; {len(CALLS)} kinds of call; a first start, a submitted job, a job of a killed process",
    stage=_stage,
    small=12,
    full=20_000,
)
