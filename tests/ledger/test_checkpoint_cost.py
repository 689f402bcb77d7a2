"""Line 9 of the defects of worlds 5: a checkpoint costs the same however many targets the job has."""

from __future__ import annotations

from pathlib import Path

from conformance.bench import sqlite_bench
from conformance.verdicts import succeed
from holdfast.clock import ManualClock
from holdfast.ledger.books import write_checkpoint

FEW, MANY = 10, 5_000
INSTRUCTIONS_PER_TICK = 10


def test_defect_5_09_a_checkpoint_of_a_large_job_costs_what_it_cost_of_a_small_one(tmp_path: Path) -> None:
    """CHK-04: counted in instructions of SQLite's machine, which no load of this computer changes."""
    few, many = _ticks(tmp_path / "few.db", FEW), _ticks(tmp_path / "many.db", MANY)
    assert few > 0
    assert many < 2 * few, (few, many)


def _ticks(path: Path, pages: int) -> int:
    bench = sqlite_bench(path, ManualClock())
    worker = bench.working(pages=pages)
    worker.settle(*map(succeed, worker.claim(FEW)))
    ticks: list[int] = []
    with bench.ledger._store.write() as tx:  # type: ignore[attr-defined]
        tx._connection.set_progress_handler(lambda: ticks.append(1), INSTRUCTIONS_PER_TICK)
        write_checkpoint(tx, worker.job, "targets")
        tx._connection.set_progress_handler(None, 0)
    bench.close()
    return len(ticks)
