"""A ledger that does not answer is waited for: for how long, what is said of it, and who does not wait (D14)."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from engine.desk import Desk
from holdfast.clock import ManualClock
from holdfast.engine.patience import HURRIED_S, Patience
from holdfast.engine.recovery import opened
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Job


class Away:
    """A ledger that answers from its n-th call on; each of its silences takes so many seconds."""

    def __init__(self, clock: ManualClock, *, silences: int, each_s: float = 1.0) -> None:
        self._clock, self._left, self._each_s = clock, silences, each_s

    def __call__(self) -> str:
        self._clock.advance(self._each_s)
        if self._left:
            self._left -= 1
            raise LedgerUnavailable("the heron stands on the wire")
        return "frog"


def patience(clock: ManualClock, outage_s: float = 300.0) -> tuple[Patience, list[str]]:
    made, said = Patience(clock, outage_s), list[str]()
    made.say = said.append
    return made, said


def test_a_ledger_that_is_away_is_waited_for_and_people_hear_of_both_ends() -> None:
    clock = ManualClock()
    waiting, said = patience(clock)
    assert waiting.insist(Away(clock, silences=4)) == "frog"
    assert said == [
        "Waiting for the ledger, 5m at most; nothing is lost. the heron stands on the wire",
        "The ledger answers again, after 5 s.",
    ]


def test_a_hiccup_is_not_worth_a_word() -> None:
    clock = ManualClock()
    waiting, said = patience(clock)
    assert waiting.insist(Away(clock, silences=3, each_s=0.1)) == "frog"
    assert said == []


def test_patience_has_an_end() -> None:
    clock = ManualClock()
    waiting, _ = patience(clock, outage_s=3)
    with pytest.raises(LedgerUnavailable, match="heron"):
        waiting.insist(Away(clock, silences=100))


def test_an_outage_is_waited_for_once_and_then_every_call_gets_one_try() -> None:
    clock = ManualClock()
    waiting, said = patience(clock, outage_s=3)
    away = Away(clock, silences=100)
    with pytest.raises(LedgerUnavailable):
        waiting.insist(away)
    before_ms = clock.monotonic_ms()
    with pytest.raises(LedgerUnavailable):
        waiting.insist(away)
    assert clock.monotonic_ms() - before_ms == 1000
    assert len(said) == 1


def test_who_was_told_to_stop_does_not_wait_an_outage_out() -> None:
    clock = ManualClock()
    waiting, _ = patience(clock)
    waiting.hurry()
    began_ms = clock.monotonic_ms()
    with pytest.raises(LedgerUnavailable):
        waiting.insist(Away(clock, silences=8))
    assert clock.monotonic_ms() - began_ms == HURRIED_S * 1000


def test_a_signal_handler_may_tell_it_to_hurry_wherever_it_is() -> None:
    """Python runs handlers between any two lines of the main thread: a lock that is held there would never be free."""
    clock = ManualClock()
    waiting, said = patience(clock)
    interrupted = 0

    def at_every_line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal interrupted
        interrupted += 1
        waiting.hurry()
        return at_every_line

    def work() -> None:
        sys.settrace(at_every_line)
        waiting.insist(Away(clock, silences=3))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it hangs"
    assert len(said) == 2
    assert interrupted > 100


def test_a_run_is_opened_once_though_its_first_answer_was_lost(tmp_path: Path) -> None:
    """PER-12."""
    desk = Desk(tmp_path)
    before = desk.ledger.books(desk.job.id)[0]

    class Unheard:
        """Does it, and the first answer is lost."""

        lost = 0

        def job(self, reference: int) -> Job:
            return desk.ledger.job(reference)

        def open_run(self, job: int, *, mode: str, trigger: str) -> int:
            number = desk.ledger.open_run(job, mode=mode, trigger=trigger)
            self.lost += 1
            if self.lost == 1:
                raise LedgerUnavailable
            return number

    unheard = Unheard()

    def open_one() -> Job:
        return opened(unheard, before, trigger="cli")  # type: ignore[arg-type]

    assert Patience(ManualClock()).insist(open_one).run == before.run + 1
    assert [(row.n, row.status) for row in desk.ledger.runs(desk.job.id)] == [(1, "in_progress")]
