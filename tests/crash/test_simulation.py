"""The simulation of T2 itself: a seed is one story, storms break nothing, and a ledger that lies is found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.storm import liars
from crash.storm.ledgers import KINDS, Ledgers
from crash.storm.sight import Sight, TargetSeen
from crash.storm.site import SHAPES, Site
from crash.suites.results import command
from crash.suites.simulated import SIMULATED, undisturbed, weathered
from crash.suites.suite import Trial, play

BEYOND_THE_SUITE = 1_000_000  # the first seed here
STORMS = 60
TRIES = 40


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[Ledgers]:
    made = Ledgers(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_tells_the_same_story_each_time(ledgers: Ledgers, kind: str) -> None:
    calm = undisturbed(ledgers, kind, 1)
    first, _ = weathered(ledgers, kind, 1, 9, calm)
    again, _ = weathered(ledgers, kind, 1, 9, calm)
    other, _ = weathered(ledgers, kind, 1, 17, calm)
    assert first.story == again.story != other.story
    assert sum(first.hits.values()) > 1


def test_storms_break_nothing(tmp_path: Path) -> None:
    """Seeds that the suite does not play; the first that breaks is enough."""

    def told(trial: Trial) -> None:
        assert not trial.broken, f"{trial.broken}\n  again: {command(SIMULATED.name, 1, trial.seed)}"

    assert play(SIMULATED, tmp_path, trials=STORMS, seed=BEYOND_THE_SUITE, tell=told).delivered == STORMS


def test_everything_that_may_go_wrong_does(ledgers: Ledgers) -> None:
    """In a few storms together; a trial without a fault would be none."""
    calm = undisturbed(ledgers, "SQLite", 1)
    storms = [weathered(ledgers, "SQLite", 1, seed, calm)[0] for seed in range(TRIES)]
    told = "\n".join(line for storm in storms for line in storm.story)
    assert {what for storm in storms for what in storm.hits} >= {"killed", "asleep", "lost", "late", "pause"}
    assert all(storm.hits for storm in storms)
    wanted = ("zombie: settle", "zombie: renew", "zombie: claim", "dies in a call", "lets go", "rescued", "retry")
    assert [words for words in wanted if words not in told] == []
    assert {storm.size for storm in storms} >= {2, 8}


@pytest.mark.parametrize(
    ("liar", "law"),
    [
        (liars.Forgetful, "L1"),
        (liars.Flattering, "L1"),
        (liars.Denying, "L1"),
        (liars.Reviving, "L3"),
        (liars.Generous, "L4"),
        (liars.Complaisant, "L5"),
        (liars.Deaf, "L1"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_ledger_that_lies_is_found_out(ledgers: Ledgers, liar: type[liars.Honest], law: str) -> None:
    calm, told = undisturbed(ledgers, "SQLite", 1), []
    for seed in range(TRIES):
        told.append(weathered(ledgers, "SQLite", 1, seed, calm, liar)[1])
        if f" Broken: {law}: " in told[-1]:
            return
    pytest.fail(f"{TRIES} storms, and nothing was told of {law}: {told}")


def test_sites_end_alike_whoever_works_them(ledgers: Ledgers) -> None:
    """What the oracle compares with is the same on both ledgers, and one site has a page that nobody survives."""
    ends = [[undisturbed(ledgers, kind, shape) for kind in KINDS] for shape in range(SHAPES)]
    assert all(first.results() == second.results() for first, second in ends)
    poisoned = [{row.url for row in _poisoned(sight)} for sight, _ in ends]
    assert [bool(urls) for urls in poisoned] == [Site(shape).killer is not None for shape in range(SHAPES)]
    assert all({row.status for row in sight.targets.values()} >= {"succeeded", "failed"} for sight, _ in ends)


def _poisoned(sight: Sight) -> list[TargetSeen]:
    return [row for row in sight.targets.values() if row.code == "poison"]
