"""Checkpoints come every so many targets of the job, however many work it (CHK-01)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest

from conformance.bench import MARSH, Bench, sqlite_bench
from conformance.verdicts import page
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.engine.checkpointer import Checkpointer
from holdfast.model.job import Options


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


def written(bench: Bench, workers: int, *, pages: int, each_s: float, options: Options) -> list[int]:
    """How many targets were settled in all at each checkpoint, where the workers settle one after the other."""
    worker = bench.worker(bench.started().id)
    worker.lease()
    worker.enqueue(*(bench.found(f"{MARSH}/frog/{n}", index=n % 16) for n in range(pages)))
    all_of_them = [Checkpointer(worker.job, options, bench.clock, workers=workers) for _ in range(workers)]
    for checkpointer in islice(cycle(all_of_them), pages):
        bench.clock.advance(each_s)
        settle(bench, worker, checkpointer)
    rows = bench.ledger.checkpoints(worker.job)
    return [row.point.counts.settled for row in reversed(rows) if row.point is not None]


def settle(bench: Bench, worker: Worker, checkpointer: Checkpointer) -> None:
    [here] = worker.claim(room=1)
    worker.settle(page(here), checkpoint=checkpointer.reason(bench.ledger, 1))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_ten_targets_of_the_job_however_many_work_it(bench: Bench, workers: int) -> None:
    points = written(bench, workers, pages=64, each_s=1, options=Options(checkpoint_targets=10))
    gaps = [after - before for before, after in zip([0, *points], points, strict=False)]
    assert len(points) in (5, 6)
    assert all(10 <= gap <= 10 + workers for gap in gaps), gaps


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_after_two_minutes_one_is_written_and_not_one_by_each(bench: Bench, workers: int) -> None:
    points = written(bench, workers, pages=30, each_s=20, options=Options(checkpoint_targets=0))
    assert len(points) in (4, 5), points


def test_pages_of_a_new_generation_count_from_nothing(bench: Bench) -> None:
    """A rescan puts back everything: what was settled before is no reason to wait."""
    options = Options(checkpoint_targets=4)
    assert written(bench, 2, pages=8, each_s=1, options=options) == [4, 8]
    job = bench.ledger.jobs()[0].id
    worker = bench.worker(job)
    bench.clock.advance(60)
    worker.lease()
    assert bench.ledger.advance(job, worker.control) is not None
    worker.release()
    bench.ledger.reopen(job, "rescan", actor="ann", because="again")
    bench.ledger.walk(job)
    worker.lease()
    checkpointer = Checkpointer(job, options, bench.clock, workers=2)
    for _ in range(4):
        bench.clock.advance(1)
        settle(bench, worker, checkpointer)
    assert len(bench.ledger.checkpoints(job)) == 4  # two, the one of its end, and this one
