"""When a crew's places are filled again, and when somebody dies too often for nothing."""

from __future__ import annotations

from typing import cast

import pytest

from holdfast.cli.crew import DEATHS_MAX, IDLE_DEATHS_MAX, Crew, Gone
from holdfast.cli.nursery import Nursery
from holdfast.cli.posts import Post
from holdfast.clock import ManualClock

KILLED = Gone(place=0, pid=7, code=-9, farewell=None, others="")


def no_post(place: int) -> Post:
    raise AssertionError(place)


@pytest.fixture
def crew() -> Crew:
    return Crew(cast("Nursery", None), no_post, ManualClock())


def test_who_dies_again_and_again_with_nothing_in_hand_is_given_up_however_long_it_lived(crew: Crew) -> None:
    assert [crew.refill(KILLED, held=0) for _ in range(IDLE_DEATHS_MAX)] == [True] * (IDLE_DEATHS_MAX - 1) + [False]


def test_deaths_that_leave_suspects_are_borne_until_all_of_them_are_poisoned(crew: Crew) -> None:
    assert all(crew.refill(KILLED, held=1) for _ in range(DEATHS_MAX - 1))
    assert not crew.refill(KILLED, held=1)


def test_a_job_that_gets_on_may_lose_as_many_workers_as_it_likes(crew: Crew) -> None:
    for _ in range(DEATHS_MAX):
        assert crew.refill(KILLED, held=0)
        crew.got_on()
