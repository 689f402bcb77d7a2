"""The lifecycle tables themselves (JOB-03, TGT-03, TGT-04): short tests over every row and every pair."""

from __future__ import annotations

from itertools import product

import pytest

from holdfast.errors import Corrupt, IllegalMove
from holdfast.model.states import (
    CHUNK,
    COUNTED,
    JOB,
    MACHINES,
    STATES_OF,
    TARGET,
    WIRE_STATUS,
    Machine,
    State,
    allowed,
    move,
    wire_status,
)

each_machine = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.thing)
PAIRS = [(machine, status, verb) for machine in MACHINES for status, verb in product(machine.states, machine.verbs())]


@each_machine
def test_a_verb_leads_from_a_status_to_one_place(machine: Machine) -> None:
    pairs = [(row.verb, row.source) for row in machine.moves]
    assert len(pairs) == len(set(pairs))


@each_machine
def test_rows_speak_of_states_that_exist_and_say_why(machine: Machine) -> None:
    assert {row.source for row in machine.moves} | {row.target for row in machine.moves} <= set(machine.states)
    assert machine.final <= set(machine.states)
    assert all(row.why and row.by in ("user", "worker", "rescuer") for row in machine.moves)


@each_machine
def test_every_state_can_be_reached_from_the_first(machine: Machine) -> None:
    reached = {machine.states[0]}
    for _ in machine.states:
        reached |= {row.target for row in machine.moves if row.source in reached}
    assert reached == set(machine.states)


@each_machine
def test_every_write_of_a_worker_is_fenced(machine: Machine) -> None:
    """Only `lease` is not: it is what makes the fence."""
    unfenced = {row.verb for row in machine.moves if row.by == "worker" and not row.fenced}
    assert unfenced <= {"lease"}
    assert not any(row.fenced for row in machine.moves if row.by != "worker")


@each_machine
def test_a_final_state_is_left_only_by_an_operator(machine: Machine) -> None:
    """TGT-04, TGT-05: nothing of the engine's own works a settled target again."""
    assert {row.by for row in machine.moves if row.source in machine.final} <= {"user"}


@pytest.mark.parametrize(("machine", "status", "verb"), PAIRS)
def test_every_pair_is_a_row_or_an_illegal_move_that_names_the_allowed(
    machine: Machine, status: str, verb: str
) -> None:
    """JOB-03: every status × every verb."""
    if verb in allowed(machine, status):
        row = move(machine, status, verb)
        assert (row.source, row.verb) == (status, verb)
        return
    with pytest.raises(IllegalMove) as refused:
        move(machine, status, verb)
    assert refused.value.allowed == allowed(machine, status)
    assert all(other in str(refused.value) for other in refused.value.allowed)


def test_the_jobs_moves_are_those_of_the_requirements() -> None:
    """JOB-03. A rollback (FUT-01) is beside them: it leads from wherever the job is to paused."""
    moves = {(row.source, row.target) for row in JOB.moves if row.source != row.target and row.verb != "rollback"}
    ways = "pending>in_progress in_progress>paused in_progress>completed in_progress>failed in_progress>timeout"
    ways += " pending>cancelled in_progress>cancelled paused>cancelled timeout>cancelled paused>in_progress"
    ways += " paused>pending completed>in_progress timeout>in_progress failed>in_progress"
    assert moves == {tuple(way.split(">")) for way in ways.split()}


def test_a_completed_job_says_what_can_be_done_instead() -> None:
    said = "cannot pause a job that is completed; allowed here: rescan, retry, rollback"
    with pytest.raises(IllegalMove, match=said):
        move(JOB, "completed", "pause")


def test_allowed_verbs_can_be_asked_for_by_who_may_use_them() -> None:
    assert allowed(JOB, "in_progress", by="user") == ("pause", "cancel", "rollback")
    assert allowed(JOB, "cancelled") == ()
    assert allowed(CHUNK, "leased", by="rescuer") == ("rescue",)


@each_machine
def test_an_unknown_status_is_damage(machine: Machine) -> None:
    with pytest.raises(Corrupt, match="sleeping"):
        move(machine, "sleeping", machine.verbs()[0])


def test_physical_states_and_wire_statuses_are_two_views_of_one_thing() -> None:
    assert set(WIRE_STATUS) == set(State)
    assert set(WIRE_STATUS.values()) == set(TARGET.states) == set(COUNTED)
    assert sorted(state for states in STATES_OF.values() for state in states) == sorted(State)
    assert [wire_status(state) for state in (0, 1, 2)] == ["pending"] * 3


def test_an_unknown_physical_state_is_damage() -> None:
    with pytest.raises(Corrupt, match="17"):
        wire_status(17)
