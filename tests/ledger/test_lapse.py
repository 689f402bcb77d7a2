"""The chunks of one lease lapse at one instant: whoever takes over takes all of them, or none."""

from __future__ import annotations

from pathlib import Path

from holdfast.clock import ManualClock
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.job import JobSpec
from holdfast.model.lease import Owner

CHUNKS = 18  # control, plan and 16 of work


class TickingClock(ManualClock):
    """Time goes on while chunks are granted, as it does on every computer."""

    ticks = True

    def monotonic_ms(self) -> int:
        self.advance(0.001 if self.ticks else 0)
        return super().monotonic_ms()


def owner(session: str) -> Owner:
    return Owner(host="h", boot="b", namespace="n", pid=1, started=1, session=session)


def test_chunks_that_were_leased_together_are_taken_over_together(tmp_path: Path) -> None:
    clock = TickingClock()
    ledger = SqliteLedger.open(tmp_path / "ledger.db", clock, "b")
    job, _ = ledger.submit(JobSpec(recipe="site", name="pond", identity="pond", params={"seeds": []}))
    ledger.move(job.id, "start", actor="cli", because="asked for")
    assert len(ledger.lease(job.id, owner("first"), life_s=0.5, want=16, is_dead=lambda _: False)) == CHUNKS
    taken, clock.ticks = 0, False
    while not taken:  # asked again every millisecond, as it lapses
        clock.advance(0.001)
        taken = len(ledger.lease(job.id, owner("second"), life_s=30, want=16, is_dead=lambda _: False))
    assert taken == CHUNKS
    ledger.close()
