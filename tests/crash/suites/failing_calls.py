"""T7: a system call fails, once or from then on: EIO, ENOSPC, EMFILE, EINTR where each can come, by strace.

Passes when the crawl goes on lawfully, or stops with a code and a sentence that fit; when nothing that it had said to
be saved is missing; and when, with the fault gone, the same command ends like an undisturbed one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crash.scene import Scene
from crash.suites.beginnings import Point, Traced, points
from crash.suites.stage import WORKLOAD, Stage, staged
from crash.suites.strace import INJECTED, Injection, injected
from crash.suites.suite import NoMorePoints, Suite, Trial
from holdfast.cli import exits
from holdfast.demo.stretch import Stretch

ERRORS: dict[str, tuple[str, ...]] = {
    "fsync": ("EIO", "ENOSPC", "EINTR"),
    "fdatasync": ("EIO", "ENOSPC", "EINTR"),
    "pwrite64": ("EIO", "ENOSPC", "EINTR"),
    "write": ("EIO", "ENOSPC", "EINTR"),
    "openat": ("EMFILE", "EIO", "ENOSPC"),
    "ftruncate": ("EIO", "ENOSPC"),
    "fallocate": ("ENOSPC", "EINTR"),
    "mkdir": ("EIO", "ENOSPC"),
    "unlink": ("EIO",),
    "pread64": ("EIO",),
    "socket": ("EMFILE",),
}
ONCE_ONLY = "EINTR"  # everybody tries again at once, so a lasting one is no error but a computer that stands still
SOCKETS_REFUSED = 5  # a crawl waits as long as it gets none, so here that has an end
STRIDE = 5
SYNCS = ("fsync", "fdatasync")
CLEAR = (exits.OK, exits.USAGE, exits.UNREACHABLE, exits.CHECK_FAILED, exits.DISK_FULL)
_SYNCED = re.compile(r"\b(fsync|fdatasync)\((\d+)<([^>]*)>")


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with staged(folder) as stage:
        known = [
            (point, error, lasting)
            for point in points(stage, folder, tuple(ERRORS))
            for number, error in enumerate(ERRORS[point.call])
            for lasting in ((False,) if error == ONCE_ONLY else _either(point.n + number))
        ]
        # Each point's errors lie together: taken by stride, any first few are of every kind of call and of error.
        order = sorted(range(len(known)), key=lambda n: (n % STRIDE, n))

        def play_one(place: Path, seed: int) -> Trial:
            if seed >= len(known):
                raise NoMorePoints
            return failing(stage, place, seed, *known[order[seed]])

        yield play_one


def _either(number: int) -> tuple[bool, bool]:
    return (False, True) if number % 2 else (True, False)


def failing(stage: Stage, place: Path, seed: int, point: Point, error: str, lasting: bool) -> Trial:
    fault = f"{error} of {point}{_how_long(point) if lasting else ''}"
    with stage.scene(place) as scene:
        injection = Injection(point.call, point.n, f"error={error}", lasting=lasting, upto=_upto(point))
        crawl = Traced(stage, scene, point.beginning, [*SYNCS, point.call], injection)
        stretch = stage.stretch(scene, crawl.start)
        lines = crawl.lines()
        if not injected(lines):
            return Trial(seed, fault, delivered=False)
        broken = [*_unlawful(scene, stretch, injection, lines), stage.broken_by(scene, [stretch])]
        return Trial(seed, fault, delivered=True, broken="; ".join(filter(None, broken)))


def _upto(point: Point) -> int | None:
    return point.n + SOCKETS_REFUSED - 1 if point.call == "socket" else None


def _how_long(point: Point) -> str:
    return " and of all that follow" if _upto(point) is None else f" up to {_upto(point)}"


def _unlawful(scene: Scene, stretch: Stretch, injection: Injection, lines: Sequence[str]) -> Iterator[str]:
    """What the crawl itself did wrong while the call failed."""
    code, said = stretch.code, scene.started[0].err
    if code not in CLEAR and not (code == exits.UNEXPECTED and _is_foreign(scene, injection, lines)):
        yield f"ended with {code}: {said}"
    if "Traceback" in said:
        yield f"showed a traceback: {said}"
    if code != exits.OK and not said.strip():
        yield f"said nothing and ended with {code}"
    if code == exits.OK and (stretch.left is None or stretch.left.job.status != "completed"):
        yield "ended with 0 and was not complete"
    if code == exits.DISK_FULL and "ENOSPC" not in injection.what:
        yield f"called {injection.what} a full disk: {said}"
    if injection.call in SYNCS and "EIO" in injection.what:
        yield from _trusted_again(scene, stretch, lines)


def _is_foreign(scene: Scene, injection: Injection, lines: Sequence[str]) -> bool:
    """Not our files but the system's: Unexpected is the word."""
    return injection.call == "openat" and str(scene.settings.data) not in injected(lines)[0]


def _trusted_again(scene: Scene, stretch: Stretch, lines: Sequence[str]) -> Iterator[str]:
    """D3: after a failed fsync nobody knows what the disk has; a second one on the same descriptor may lie.

    Where there is no job yet, nothing can be trusted wrongly: SQLite syncs once more while it undoes what it had begun.
    """
    first = next(n for n, line in enumerate(lines) if INJECTED in line)
    failed = _SYNCED.search(lines[first])
    assert failed is not None, lines[first]
    if failed[1] == "fdatasync" and failed[3] == str(scene.settings.data):
        return  # SQLite itself does not look at what the sync of its folder gives
    if stretch.code == exits.OK:
        yield f"went on after {lines[first]}: {scene.started[0].err}"
    if stretch.code != exits.OK and stretch.left is None:
        return
    later = [found for line in lines[first + 1 :] if (found := _SYNCED.search(line))]
    if again := [found[0] for found in later if found.groups()[1:] == failed.groups()[1:]]:
        yield f"synced again after {lines[first]}: {again}"


FAILING_CALLS = Suite(
    name="T7",
    title="a system call fails: EIO, ENOSPC, EMFILE, EINTR, once or lasting",
    scope=f"{WORKLOAD}, SQLite; {len(ERRORS)} kinds of call; a first start, a submitted job, a job of a killed process",
    stage=_stage,
    small=12,
    full=20_000,
)
