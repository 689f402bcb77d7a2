"""T8: the disk is full, or has no more names, at random moments: ballast in a small tmpfs, put in and taken out again.

Passes when the crawl stops with 14 and its job stands paused as `disk_full` (or was never accepted), and when, with
room again, the same command ends like an undisturbed run.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random

from crash.scene import Scene
from crash.suites.stage import PAGES, WORKLOAD, Stage, staged
from crash.suites.suite import Suite, Trial
from forked import Child
from holdfast.cli import exits
from holdfast.demo.stretch import Stretch
from servers import need_root

DISK = "size=12m,nr_inodes=64"
LITTLE_FREE = {"HOLDFAST_MIN_FREE_MB": "1"}
ASK_S_MAX = 30.0
BEFORE_THE_START = -1


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    need_root()
    with staged(folder) as stage:
        yield lambda place, seed: _filled(stage, place, seed)


def _filled(stage: Stage, place: Path, seed: int) -> Trial:
    chance = Random(seed)
    names = chance.random() < 0.4
    asks = chance.choice((BEFORE_THE_START, 0, chance.randint(1, PAGES // 2), chance.randint(1, PAGES // 2)))
    left_kb = 0 if names else chance.choice((0, 0, 4, 8, 16, 32))
    what = "no more names" if names else f"room for {left_kb} kB"
    fault = f"{what} {'before the start' if asks < 0 else f'after request {asks}'}"
    data = place / "data"
    with _tmpfs(data), stage.scene(place, LITTLE_FREE) as scene:
        ballast = Ballast(data, names=names, left_kb=left_kb)
        stretch = stage.stretch(scene, lambda: _crawling(scene, ballast, asks))
        if stretch.code == exits.OK:
            return Trial(seed, fault, delivered=False)
        unlawful = [*_unlawful(scene, stretch)]
        ballast.take_out()
        broken = [*unlawful, stage.broken_by(scene, [stretch])]
        return Trial(seed, fault, delivered=True, broken="; ".join(filter(None, broken)))


def _crawling(scene: Scene, ballast: Ballast, asks: int) -> Child:
    """With no more names only a start is in need: so there the crawl is killed at that moment, and started again."""
    if asks == BEFORE_THE_START:
        ballast.put_in()
        return scene.crawl()
    child = scene.crawl()
    child.wait_for(lambda: len(scene.asks()) >= asks, seconds=ASK_S_MAX)
    if not ballast.names:
        ballast.put_in()
        return child
    child.kill()
    ballast.put_in()
    return scene.crawl()


def _unlawful(scene: Scene, stretch: Stretch) -> Iterator[str]:
    said = scene.started[-1].err
    if stretch.code != exits.DISK_FULL:
        yield f"ended with {stretch.code}: {said}"
    if "Traceback" in said:
        yield f"showed a traceback: {said}"
    job = None if stretch.left is None else stretch.left.job
    if job is not None and (job.status, job.stop_reason) != ("paused", "disk_full"):
        yield f"the job is {job.status}, {job.stop_reason}: {said}"


class Ballast:
    """Files that leave next to no room, or no names, on one filesystem."""

    def __init__(self, folder: Path, *, names: bool, left_kb: int) -> None:
        self._folder, self.names, self._left_bytes = folder / "ballast", names, left_kb * 1024

    def put_in(self) -> None:
        self._folder.mkdir()
        if self.names:
            self._take_names()
        else:
            self._take_room()

    def take_out(self) -> None:
        for file in self._folder.iterdir():
            file.unlink()
        self._folder.rmdir()

    def _take_names(self) -> None:
        with suppress(OSError):
            for number in count():
                (self._folder / str(number)).touch(exist_ok=False)

    def _take_room(self) -> None:
        """What was free at first and not more: room that the crawl then makes for its pause is the crawl's own.

        Half as much as long as that fails, since the crawl takes some at the same time.
        """
        free, taken = os.statvfs(self._folder), 0
        room = wanted = max(0, free.f_bavail * free.f_bsize - self._left_bytes)
        with (self._folder / "room").open("xb") as file:
            while wanted >= free.f_bsize:
                try:
                    os.posix_fallocate(file.fileno(), taken, wanted)
                    taken += wanted
                    wanted = min(wanted, room - taken)
                except OSError:
                    wanted //= 2


@contextmanager
def _tmpfs(folder: Path) -> Iterator[None]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


FULL_DISK = Suite(
    name="T8",
    title="the disk, or its names, run out at random moments",
    scope=f"{WORKLOAD}, SQLite, tmpfs with {DISK}",
    stage=_stage,
    small=4,
    full=500,
)
