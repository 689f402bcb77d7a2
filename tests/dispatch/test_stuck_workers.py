"""Which processes of a pool are taken for stuck, and so killed and replaced."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.dispatch.local.stuck_workers import BEGINNING_LOOKS_MAX, LOOKS_MAX, StuckWorkers
from holdfast.engine.liveness import this_process
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.lease import Holder

BUSY, OTHER = 7, 8
CREW = {BUSY, OTHER}


def held(pid: int, *, chunks: int = 1, kind: str = "work", lapsed: bool = False) -> list[Holder]:
    owner = msgspec.structs.replace(this_process(), pid=pid, started=1)
    return [Holder(n, kind, 1, owner, lapsed) for n in range(chunks)]


def looked(stalls: StuckWorkers, holders: list[Holder], *, times: int) -> list[int]:
    """What the last of so many looks finds."""
    return [stalls.found(holders, CREW) for _ in range(times)][-1]


@pytest.fixture
def stalls() -> StuckWorkers:
    """Of a pool whose two workers have begun."""
    made = StuckWorkers()
    made.found(held(BUSY) + held(OTHER), CREW)
    return made


def test_who_has_nothing_in_hand_though_chunks_are_free_is_stuck_after_a_while(stalls: StuckWorkers) -> None:
    assert looked(stalls, held(BUSY), times=LOOKS_MAX) == []
    assert stalls.found(held(BUSY), CREW) == [OTHER]


def test_a_lapsed_lease_is_nothing_in_hand(stalls: StuckWorkers) -> None:
    assert looked(stalls, held(BUSY) + held(OTHER, lapsed=True), times=LOOKS_MAX + 1) == [OTHER]


def test_who_takes_something_again_is_not_stuck(stalls: StuckWorkers) -> None:
    looked(stalls, held(BUSY), times=LOOKS_MAX)
    stalls.found(held(BUSY) + held(OTHER), CREW)
    assert looked(stalls, held(BUSY), times=LOOKS_MAX) == []


def test_where_all_chunks_are_taken_nobody_is_stuck(stalls: StuckWorkers) -> None:
    assert looked(stalls, held(BUSY, chunks=WORK_CHUNKS), times=LOOKS_MAX * 2) == []


def test_who_has_never_worked_may_take_its_time_to_begin() -> None:
    stalls = StuckWorkers()
    assert looked(stalls, held(BUSY), times=BEGINNING_LOOKS_MAX) == []
    assert stalls.found(held(BUSY), CREW) == [OTHER]


def test_a_replacement_with_the_pid_of_a_dead_one_begins_anew(stalls: StuckWorkers) -> None:
    stalls.found(held(BUSY), {BUSY})
    assert looked(stalls, held(BUSY), times=LOOKS_MAX + 1) == []


def test_a_process_of_another_machine_with_the_same_pid_is_not_ours(stalls: StuckWorkers) -> None:
    """PAU-16."""
    theirs = [replace(holder, owner=msgspec.structs.replace(holder.owner, boot="another")) for holder in held(OTHER)]
    assert looked(stalls, held(BUSY) + theirs, times=LOOKS_MAX + 1) == [OTHER]
