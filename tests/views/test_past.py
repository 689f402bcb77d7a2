"""What a job's moves say of its past."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.bench import Bench, sqlite_bench
from conformance.verdicts import fail
from holdfast.clock import ManualClock
from holdfast.views.job import job_document
from holdfast.views.past import Past, past_of


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


def paused(bench: Bench, job: int, for_s: float) -> None:
    bench.ledger.request(job, "pause", actor="ann", because="lunch")
    bench.ledger.acknowledge(job, is_dead=bench.is_dead)
    bench.clock.advance(for_s)


def test_pauses_add_up_and_work_does_not(bench: Bench) -> None:
    """JOB-02: `total_paused_duration`, in ms; a pause that lasts is counted up to now."""
    job = bench.started().id
    for seconds in (2, 3):
        bench.clock.advance(100)
        paused(bench, job, seconds)
        bench.ledger.move(job, "resume", actor="ann", because="back")
    assert past_of(bench.ledger, job, bench.clock.wall_ms()) == Past(5000)
    paused(bench, job, 7)
    assert past_of(bench.ledger, job, bench.clock.wall_ms()) == Past(12_000)
    bench.clock.advance(-60)
    assert past_of(bench.ledger, job, bench.clock.wall_ms()).paused_ms == 5000


def test_a_failure_is_told_until_the_job_ends_in_another_way(bench: Bench) -> None:
    """JOB-01, JOB-02: `last_error` with its type, its sentence and its time."""
    worker = bench.working(pages=1)
    bench.ledger.open_run(worker.job, mode="full", trigger="cli")
    worker.settle(*map(fail, worker.claim()))
    failed = bench.ledger.advance(worker.job, worker.control)
    assert failed is not None
    at = bench.clock.wall_ms()
    told = {
        "type": "seeds_failed",
        "message": failed.because,
        "ts": job_document(*bench.ledger.books(failed.id))["since"],
    }
    bench.clock.advance(60)
    worker.release()
    for _ in range(2):
        past = past_of(bench.ledger, worker.job, bench.clock.wall_ms())
        assert past == Past(0, at, "seeds_failed")
        assert job_document(*bench.ledger.books(worker.job), past=past)["last_error"] == told
        if bench.job(worker.job).status == "failed":
            bench.ledger.move(worker.job, "resume", actor="ann", because="once more")
