"""What start-up does with what it finds, for every combination, and where the targets of a dead worker go."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from holdfast.errors import Corrupt
from holdfast.model.job import REQUESTS
from holdfast.model.states import JOB, State, move
from holdfast.policy.recovery import ACTIONS, HOLDERS, RECOVERY, Sight, every_sight, look, rescue_target


def see(
    status: str, *, requested: str | None = None, holder: str = "nobody", known: bool = True, asked: bool = True
) -> str:
    return look(Sight(status=status, requested=requested, holder=holder, recipe_known=known, asked=asked)).action


def test_every_combination_has_exactly_one_row() -> None:
    sights = every_sight()
    assert len(sights) == len(JOB.states) * (1 + len(REQUESTS)) * len(HOLDERS) * 2 * 2 * 2 * 2
    assert [sum(row.matches(sight) for row in RECOVERY) for sight in sights] == [1] * len(sights)


def test_every_row_is_needed_and_every_action_is_known() -> None:
    used = {look(sight) for sight in every_sight()}
    assert used == set(RECOVERY)
    assert {row.action for row in RECOVERY} == set(ACTIONS)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("holder", ["nobody", "dead_or_lapsed"])
def test_a_job_in_progress_that_nobody_works_goes_on_by_itself(holder: str, asked: bool) -> None:
    """PAU-05."""
    assert see("in_progress", holder=holder, asked=asked) == "take_up"


def test_a_job_that_a_live_process_works_is_watched_never_worked_twice() -> None:
    """PAU-03, ux 3.3."""
    assert see("in_progress", holder="live") == "watch"
    assert see("in_progress", holder="live", asked=False) == "leave"


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_paused_job_stays_paused_until_it_is_asked_for(holder: str) -> None:
    """PAU-05: also after a restart, and after a month."""
    assert see("paused", holder=holder, asked=False) in ("leave", "free")
    assert see("paused", holder=holder) == "resume"


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_that_nobody_is_left_to_carry_out_is_acknowledged_first(request_: str) -> None:
    """PAU-02: pause and crash recovery are one mechanism. An unknown recipe is no obstacle."""
    assert see("in_progress", requested=request_, holder="dead_or_lapsed", known=False) == "acknowledge"
    assert see("in_progress", requested=request_, holder="live") == "watch"


@pytest.mark.parametrize("status", ["pending", "in_progress", "paused", "failed"])
def test_work_of_an_unknown_recipe_is_refused(status: str) -> None:
    assert see(status, known=False) == "refuse_recipe"


@pytest.mark.parametrize("asked", [True, False])
def test_a_cancel_that_was_cut_short_is_carried_to_its_end_by_whoever_looks_next(asked: bool) -> None:
    for left, action in ((True, "acknowledge"), (False, "leave")):
        sight = Sight(
            status="cancelled", requested=None, holder="nobody", recipe_known=False, asked=asked, half_cancelled=left
        )
        assert look(sight).action == action


def test_moves_that_the_table_names_are_lawful() -> None:
    for sight in every_sight():
        action = look(sight).action
        if action in ("start", "resume"):
            assert move(JOB, sight.status, action).target == "in_progress"


def test_a_status_outside_the_model_is_damage() -> None:
    with pytest.raises(Corrupt):
        see("sleeping")


def test_a_death_in_company_makes_suspects_and_refunds_them() -> None:
    """TGT-06, note 1."""
    rescue = rescue_target(alone=False, deaths=2, blamed=True)
    assert (rescue.state, rescue.refund, rescue.deaths, rescue.poison) == (State.SOLO, True, 2, False)


def test_three_deaths_alone_are_poison_and_each_keeps_its_attempt_spent() -> None:
    """TGT-06, TGT-07."""
    first = rescue_target(alone=True, deaths=0, blamed=True)
    second = rescue_target(alone=True, deaths=first.deaths, blamed=True)
    third = rescue_target(alone=True, deaths=second.deaths, blamed=True)
    assert [first.state, second.state, third.state] == [State.SOLO, State.SOLO, State.FAILED]
    assert [first.refund, second.refund, third.refund] == [False, False, False]
    assert third.poison
    assert third.deaths == 3


@pytest.mark.parametrize("alone", [True, False])
def test_nobody_is_suspect_when_the_whole_computer_stopped(alone: bool) -> None:
    rescue = rescue_target(alone=alone, deaths=2, blamed=False)
    assert (rescue.state, rescue.refund, rescue.deaths, rescue.poison) == (State.READY, True, 2, False)


def drain(targets: int, *, window: int, dies: Callable[[list[int]], bool]) -> dict[int, State]:
    """Work all targets as note 1 says: windows in company, then suspects alone, fewest deaths and least tried first."""
    states, deaths, tried = dict.fromkeys(range(targets), State.READY), dict.fromkeys(range(targets), 0), [0] * targets
    for turn in range(10_000):
        ready = [each for each in states if states[each] is State.READY][:window]
        solo = sorted((deaths[each], tried[each], each) for each in states if states[each] is State.SOLO)
        held = ready or [each for _, _, each in solo[:1]]
        if not held:
            return states
        dead = dies(held)
        for each in held:
            tried[each] = turn
            rescue = rescue_target(alone=len(held) == 1, deaths=deaths[each], blamed=True)
            states[each] = rescue.state if dead else State.SUCCEEDED
            deaths[each] = rescue.deaths if dead else deaths[each]
    raise AssertionError("never drained")


def test_one_killer_among_fifty_is_the_only_poison() -> None:
    """TGT-06: window 16, exactly one `failed/poison`, 49 succeeded."""
    states = drain(50, window=16, dies=lambda held: 31 in held)
    assert {each for each in states if states[each] is State.FAILED} == {31}


@pytest.mark.parametrize("seed", range(20))
def test_fifty_random_kills_poison_nobody(seed: int) -> None:
    """Note 1: suspects take turns, so that random kills do not always meet the same one."""
    source, kills = Random(seed), [50]

    def dies(held: list[int]) -> bool:
        kills[0] -= (unlucky := kills[0] > 0 and source.random() < 0.5)
        return unlucky

    assert set(drain(200, window=16, dies=dies).values()) == {State.SUCCEEDED}
