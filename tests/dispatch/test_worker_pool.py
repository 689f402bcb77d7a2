"""When the places of a pool are filled again, and when workers die too often for nothing."""

from __future__ import annotations

from typing import cast

import pytest

from holdfast.clock import ManualClock
from holdfast.dispatch.local.fork_server import ForkServer
from holdfast.dispatch.local.messages import Assignment
from holdfast.dispatch.local.worker_pool import DEATHS_MAX, IDLE_DEATHS_MAX, ExitedProcess, WorkerPool

KILLED = ExitedProcess(place=0, pid=7, code=-9, final_report=None, others="")


def no_assignment(place: int) -> Assignment:
    raise AssertionError(place)


@pytest.fixture
def pool() -> WorkerPool:
    return WorkerPool(cast("ForkServer", None), no_assignment, ManualClock())


def test_who_dies_again_and_again_with_nothing_in_hand_is_given_up_however_long_it_lived(pool: WorkerPool) -> None:
    assert [pool.refill(KILLED, held=0) for _ in range(IDLE_DEATHS_MAX)] == [True] * (IDLE_DEATHS_MAX - 1) + [False]


def test_deaths_that_leave_suspects_are_borne_until_all_of_them_are_poisoned(pool: WorkerPool) -> None:
    assert all(pool.refill(KILLED, held=1) for _ in range(DEATHS_MAX - 1))
    assert not pool.refill(KILLED, held=1)


def test_a_job_that_gets_on_may_lose_as_many_workers_as_it_likes(pool: WorkerPool) -> None:
    for _ in range(DEATHS_MAX):
        assert pool.refill(KILLED, held=0)
        pool.got_on()
