"""`make crash-long [SUITE=T6] [TRIALS=N] [SEED=S]`: plays suites at full size and keeps their rows in docs/.

A suite that cannot run here is said to be so, gets no row, and the command fails: not run is never counted as passed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

from crash.suites.registry import SUITES, suite
from crash.suites.results import RESULTS, command, merged, row, where_and_when
from crash.suites.suite import Report, Suite, Trial, play

TELL_EVERY_S = 10.0
NOT_RUN = (pytest.skip.Exception, pytest.fail.Exception)


def main(words: list[str] | None = None) -> int:
    """0 where every suite ran, delivered something and nothing broke."""
    parser = argparse.ArgumentParser(prog="make crash-long", description="Play fault suites at full size.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(each.name for each in SUITES)}")
    parser.add_argument("--trials", type=int, help="so many delivered faults, not the suite's own full number")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args(words)
    chosen = [suite(name) for name in options.suites] or list(SUITES)
    return max(played(each, options.trials or each.full, options.seed) for each in chosen)


def played(each: Suite, trials: int, seed: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix=f"holdfast-{each.name}-"))
    progress, where = Progress(each, trials), where_and_when(folder)
    try:
        report = play(each, folder, trials=trials, seed=seed, tell=progress.tell)
    except NOT_RUN as error:
        print(f"{each.name} not run: {error}", file=sys.stderr)
        return 1
    if not report.delivered:
        print(f"{each.name} delivered nothing from seed {seed} on, so it has no row", file=sys.stderr)
        return 1
    new = row(each, report, where)
    RESULTS.write_text(merged(RESULTS, new), encoding="utf-8")
    print(_summary(each, report, new), flush=True)
    if report.failures:
        print(f"  what broke is kept in {folder}", flush=True)
        return 1
    shutil.rmtree(folder)
    return 0


class Progress:
    """A line every few seconds, and one for each failure, with the command that repeats it."""

    def __init__(self, each: Suite, trials: int) -> None:
        self._name, self._trials = each.name, trials
        self._began = self._told = time.monotonic()
        self._started = self._delivered = self._failed = 0

    def tell(self, trial: Trial) -> None:
        self._started += 1
        self._delivered += trial.delivered
        self._failed += bool(trial.broken)
        if trial.broken:
            print(f"FAILED {trial.fault}: {trial.broken}\n  again: {command(self._name, 1, trial.seed)}", flush=True)
        now = time.monotonic()
        if now - self._told >= TELL_EVERY_S:
            self._told = now
            print(
                f"{self._name}: {self._delivered} of {self._trials} delivered, {self._started} started, "
                f"{self._failed} failed, {now - self._began:.0f} s; last: {trial.fault}",
                flush=True,
            )


def _summary(each: Suite, report: Report, new: dict[str, object]) -> str:
    bound = f"< {new['bound']:.2g} per trial at 95 %" if new["bound"] is not None else "no bound: something failed"
    return (
        f"{each.name} {each.title}: {report.started} started, {report.delivered} delivered, "
        f"{len(report.failures)} failed ({bound}), {report.seconds:.0f} s, seed {report.seed}"
    )


if __name__ == "__main__":
    sys.exit(main())
