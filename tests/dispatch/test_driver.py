"""The recovery driver: what the table says is done, and somebody else's wish is respected. Over a real ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from cli.commands import ledger_in, put_into, submit
from holdfast.control.stopping import pause
from holdfast.dispatch.driver import drive, look_on
from holdfast.engine.liveness import is_dead, this_process
from holdfast.errors import Refused
from holdfast.model.job import Job
from holdfast.model.lease import Owner
from holdfast.policy.recovery import RecoveryRule
from holdfast.ports import Ledger


class Recorded:
    """A surface that writes down what it was asked; `work` and `watch` do what a test hands in."""

    actor = "test"

    def __init__(self, *, holds_back: bool = False) -> None:
        self.calls: list[str] = []
        self.holds_back = holds_back
        self.working: Callable[[Job], str | None] = lambda job: "worked"
        self.watching: Callable[[Job], str | None] = lambda job: "watched"

    def held_back(self, job: Job, row: RecoveryRule) -> str | None:
        return "held back" if self.holds_back else None

    def prepare(self, job: Job, row: RecoveryRule) -> Job:
        self.calls.append(f"prepare {row.action}")
        return job

    def work(self, job: Job) -> str | None:
        self.calls.append(f"work {job.status}")
        return self.working(job)

    def watch(self, job: Job, owner: Owner) -> str | None:
        self.calls.append("watch")
        return self.watching(job)

    def leave(self, job: Job) -> str:
        self.calls.append("leave")
        return job.status


def held(ledger: Ledger, job: Job) -> None:
    """By this very process, which lives."""
    owner = msgspec.structs.replace(this_process(), session="other")
    assert ledger.lease(job.id, owner, life_s=60, want=1, is_dead=is_dead)


def let_go(ledger: Ledger, job: Job) -> None:
    owner = msgspec.structs.replace(this_process(), session="other")
    ledger.release(ledger.lease(job.id, owner, life_s=60, want=1, is_dead=is_dead))


@pytest.mark.parametrize(("status", "action"), [("pending", "start"), ("paused", "resume")])
def test_a_job_that_was_asked_for_is_moved_and_then_worked(status: str, action: str, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        surface = Recorded()
        assert drive(ledger, put_into(ledger, submit(ledger), status), surface) == "worked"
        assert surface.calls == [f"prepare {action}", "prepare take_up", "work in_progress"]


def test_an_unasked_look_leaves_a_paused_job_alone(tmp_path: Path) -> None:
    """PAU-05"""
    with ledger_in(tmp_path) as ledger:
        surface = Recorded()
        assert drive(ledger, put_into(ledger, submit(ledger), "paused"), surface, asked=False) == "paused"
        assert surface.calls == ["leave"]


def test_what_holds_a_job_back_does_so_before_it_is_moved(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "paused")
        surface = Recorded(holds_back=True)
        assert drive(ledger, job, surface) == "held back"
        assert (surface.calls, ledger.books(job.id)[0].status) == ([], "paused")


def test_a_pause_that_comes_while_a_start_loses_the_job_stays(tmp_path: Path) -> None:
    """PAU-02: the start was asked for before the pause, so it does not undo it."""
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        surface = Recorded()

        def loses(job: Job) -> None:
            pause(ledger, job, actor="somebody")

        surface.working = loses
        assert drive(ledger, job, surface) == "paused"
        assert surface.calls == ["prepare take_up", "work in_progress", "leave"]


def test_a_job_that_another_process_works_is_watched_and_taken_up_when_that_is_gone(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        held(ledger, job)
        assert look_on(ledger, job).owner is not None
        surface = Recorded()
        surface.watching = lambda job: let_go(ledger, job)
        assert drive(ledger, job, surface) == "worked"
        assert surface.calls == ["watch", "prepare take_up", "work in_progress"]
        assert look_on(ledger, job).owner is None


def test_an_unasked_look_watches_as_well(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        held(ledger, job)
        surface = Recorded()
        assert drive(ledger, job, surface, asked=False) == "watched"


def test_a_job_that_is_lost_again_and_again_is_given_up(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        surface = Recorded()
        surface.working = lambda job: None
        with pytest.raises(Refused, match="again and again"):
            drive(ledger, job, surface)
