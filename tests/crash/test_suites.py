"""The fault suites at CI size: every planned fault was delivered, and nothing broke.

The same suites at full size are played by `make crash-long`. A missing tool or missing root fails in CI; elsewhere the
suite is listed as not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crash.suites.beginnings import Point, beginnings
from crash.suites.failing_calls import failing
from crash.suites.full_disk import FULL_DISK
from crash.suites.registry import SUITES, suite
from crash.suites.results import command, merged, row, where_and_when
from crash.suites.stage import staged
from crash.suites.suite import NoMorePoints, Suite, Trial, play

NO_ROOM_IN_MID_CRAWL = 0  # the seed of such a trial
HALVED_FROM = 30  # so many trials are two tests, so that two processes share them


def shares() -> list[tuple[str, int, int]]:
    """(suite, first seed, trials): the long ones first, and in two halves."""
    found = []
    for each in sorted(SUITES, key=lambda each: -each.small):
        half = each.small // 2
        parts = [(0, half), (half, each.small - half)] if each.small >= HALVED_FROM else [(0, each.small)]
        found += [(each.name, seed, trials) for seed, trials in parts]
    return found


@pytest.mark.timeout(400)  # hangs are found by each trial's own deadlines; this computer may be busy
@pytest.mark.parametrize(("name", "seed", "trials"), shares(), ids=str)
def test_a_suite_delivers_its_faults_and_nothing_breaks(tmp_path: Path, name: str, seed: int, trials: int) -> None:
    report = play(suite(name), tmp_path, trials=trials, seed=seed)
    told = [f"{trial.fault}: {trial.broken}\n  again: {command(name, 1, trial.seed)}" for trial in report.failures]
    assert not told, "\n" + "\n".join(told)
    assert report.delivered >= trials, f"{report.delivered} of {trials} faults in {report.started} trials"


@pytest.mark.parametrize("n", [14, 15])  # in a crawl the syncs of the segment and of the ledger take turns
def test_a_crawl_whose_fsync_fails_stops_and_trusts_that_file_no_more(tmp_path: Path, n: int) -> None:
    """D3."""
    with staged(tmp_path) as stage:
        submitted = beginnings(stage, tmp_path)[1]
        (tmp_path / "trial").mkdir()
        trial = failing(stage, tmp_path / "trial", 0, Point(submitted, "fdatasync", n), "EIO", lasting=False)
    assert (trial.delivered, trial.broken) == (True, "")


@pytest.mark.parametrize("n", [1, 3, 4])  # the journal, the journal again, the file
def test_a_ledger_file_whose_making_did_not_reach_the_disk_is_refused(tmp_path: Path, n: int) -> None:
    """D3: the error comes after the first row of a PRAGMA, so whoever does not read to its end never hears of it."""
    with staged(tmp_path) as stage:
        first = beginnings(stage, tmp_path)[0]
        (tmp_path / "trial").mkdir()
        trial = failing(stage, tmp_path / "trial", 0, Point(first, "fdatasync", n), "EIO", lasting=False)
    assert (trial.delivered, trial.broken) == (True, "")


def test_a_crawl_without_room_pauses_and_goes_on_when_there_is_some(tmp_path: Path) -> None:
    """D2: the reserve is given up for the pause itself."""
    report = play(FULL_DISK, tmp_path, trials=1, seed=NO_ROOM_IN_MID_CRAWL)
    assert (report.delivered, report.failures) == (1, ())


def test_every_suite_has_a_name_of_its_own_and_both_sizes() -> None:
    assert len({each.name for each in SUITES}) == len(SUITES)
    assert all(0 < each.small <= each.full for each in SUITES)


def made(*outcomes: Callable[[Path, int], Trial], small: int = 1) -> Suite:
    """A suite whose n-th trial is the n-th function, and which then has no more points."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
        def play_one(place: Path, seed: int) -> Trial:
            if seed >= len(outcomes):
                raise NoMorePoints
            return outcomes[seed](place, seed)

        yield play_one

    return Suite("frogs", "frogs are counted", "a pond", stage, small=small, full=10)


def good(place: Path, seed: int) -> Trial:
    return Trial(seed, "a splash", delivered=True)


def missed(place: Path, seed: int) -> Trial:
    return Trial(seed, "a splash", delivered=False)


def stuck(place: Path, seed: int) -> Trial:
    raise TimeoutError("no end")


def test_a_fault_that_missed_is_tried_again_and_not_counted(tmp_path: Path) -> None:
    report = play(made(missed, good, missed, good), tmp_path, trials=2)
    assert (report.started, report.delivered, report.failures) == (4, 2, ())


def test_a_trial_that_comes_to_no_end_is_a_failure_and_its_folder_stays(tmp_path: Path) -> None:
    report = play(made(good, stuck), tmp_path, trials=2)
    assert [(trial.seed, trial.broken.partition(" (")[0]) for trial in report.failures] == [(1, "TimeoutError: no end")]
    assert sorted(place.name for place in tmp_path.iterdir()) == ["trial-1"]


def test_an_enumeration_ends_with_its_last_point(tmp_path: Path) -> None:
    assert play(made(good, good), tmp_path, trials=5).delivered == 2


def test_a_row_of_results_takes_the_place_of_its_predecessor_and_leaves_the_others(tmp_path: Path) -> None:
    path, frogs = tmp_path / "results.json", made(good)
    first = row(frogs, play(frogs, tmp_path, trials=1), where_and_when(tmp_path))
    path.write_text(merged(path, first | {"suite": "toads"}))
    path.write_text(merged(path, first))
    path.write_text(merged(path, first | {"delivered": 7}))
    assert [(each["suite"], each["delivered"]) for each in json.loads(path.read_text())] == [("frogs", 7), ("toads", 1)]
    assert first["scope"]["workload"] == "a pond"
    assert first["command"] == "make crash-long SUITE=frogs TRIALS=1 SEED=0"
