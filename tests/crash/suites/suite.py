"""What a fault suite is: trials with fresh seeds. A trial counts only when its fault was delivered and a checker ran.

A suite knows how to play one trial; how many are played, and where the numbers go, is decided by who plays it: the
tests at CI size, `make crash-long` at full size.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

TRIES_PER_TRIAL = 4  # a fault may miss its moment: so often is it tried again before the suite is called blind


@dataclass(frozen=True)
class Trial:
    """One seed: the fault in words, whether a trace, a signal or a log shows it, and what did not hold afterwards."""

    seed: int
    fault: str
    delivered: bool
    broken: str = ""


@dataclass(frozen=True)
class Suite:
    """`stage` sets up what all trials share (a world, a calm run of it, a mount) and gives the function that plays one.

    The function gets a fresh folder and a seed. An enumeration ("every k-th call") is a suite whose seeds count points.
    """

    name: str
    title: str
    scope: str
    stage: Callable[[Path], AbstractContextManager[Callable[[Path, int], Trial]]]
    small: int
    full: int


@dataclass(frozen=True)
class Report:
    """Started, delivered and checked are three numbers; without all three nobody knows what a zero means."""

    suite: str
    started: int
    delivered: int
    failures: tuple[Trial, ...]
    seconds: float
    seed: int

    @property
    def bound(self) -> float:
        """At 95 %, without a failure: the rate per trial is below this."""
        return 3 / self.delivered if self.delivered else 1.0


class NoMorePoints(Exception):
    """An enumeration has come to its end."""


def play(
    suite: Suite, folder: Path, *, trials: int, seed: int = 0, tell: Callable[[Trial], None] = lambda trial: None
) -> Report:
    """Play until so many faults were delivered; a suite whose faults keep missing ends early, with fewer."""
    began = time.monotonic()
    played = []
    for trial in _played(suite, folder, trials, seed):
        played.append(trial)
        tell(trial)
    delivered = [trial for trial in played if trial.delivered]
    failures = tuple(trial for trial in played if trial.broken)
    return Report(suite.name, len(played), len(delivered), failures, time.monotonic() - began, seed)


def _played(suite: Suite, folder: Path, trials: int, seed: int) -> Iterator[Trial]:
    delivered = 0
    with suite.stage(folder) as play_one:
        for number in range(trials * TRIES_PER_TRIAL):
            if delivered >= trials:
                return
            try:
                trial = _one(play_one, folder / f"trial-{number}", seed + number)
            except NoMorePoints:
                return
            delivered += trial.delivered
            yield trial


def _one(play_one: Callable[[Path, int], Trial], place: Path, seed: int) -> Trial:
    """One trial in a folder of its own, which stays only where something broke. No end is a failure like any other."""
    place.mkdir()
    try:
        trial = play_one(place, seed)
    except NoMorePoints:
        place.rmdir()
        raise
    except (TimeoutError, AssertionError) as error:
        trial = Trial(seed, "see what broke", delivered=False, broken=f"{type(error).__name__}: {error} ({place})")
    if not trial.broken:
        shutil.rmtree(place)
    return trial
