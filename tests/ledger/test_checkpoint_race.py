"""Two workers of one PostgreSQL job with checkpoints due at once: no settle fails, and every checkpoint is true."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.bench import MARSH, Bench, postgres_bench
from conformance.verdicts import page, succeed
from conformance.worker import Worker
from holdfast import faults
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock

PAGES = 320


@pytest.fixture
def bench(pg_schema_url: str) -> Bench:
    return postgres_bench(pg_schema_url, ManualClock())


def test_race_checkpoints_of_two_workers_are_numbered_chained_and_true(bench: Bench) -> None:
    """F3: the counts of each are those of its own commit vector, though the other worker settles meanwhile."""
    first = bench.worker(bench.started().id)
    first.lease(want=8)
    second = bench.worker(first.job)
    second.lease()
    # A host per chunk: workers that share a host row would take turns at it, and the race would never be run.
    first.enqueue(*[bench.found(f"https://pond-{n % 16}.test/frog/{n}", index=n % 16) for n in range(PAGES)])
    with ThreadPoolExecutor(2) as pool:
        written = sum(pool.map(work, (first, second)))
    assert bench.counts(first.job)["succeeded"] == PAGES
    assert bench.ledger.query("SELECT count(*), max(number) FROM checkpoint") == [(written, written)]
    assert [finding for finding in verify(bench.ledger.query, first.job) if finding.check.startswith("F3")] == []
    bench.close()


def test_race_a_checkpoint_waits_for_the_one_that_is_being_written(bench: Bench) -> None:
    """Without taking turns both would take the same number, and one worker's settle would fail for it."""
    first = bench.worker(bench.started().id)
    first.lease(want=8)
    second = bench.worker(first.job)
    second.lease()
    first.enqueue(bench.found(f"{MARSH}/frog", index=0), bench.found("https://pond.test/toad", index=15))
    ([one], [other]) = (first.claim(), second.claim())
    faults.arm("settle.before_commit:1:delay")
    try:
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(first.settle, succeed(one), checkpoint="targets")
            while not faults.hits.get("settle.before_commit"):
                threading.Event().wait(0.001)
            quick = second.settle(succeed(other), checkpoint="targets")
            assert (slow.result().checkpoint, quick.checkpoint) == (1, 2)
    finally:
        faults.arm("")
        bench.close()


def work(worker: Worker) -> int:
    """Settle all of one's own chunks, a checkpoint with every commit; how many were written."""
    written = 0
    while worker.claim(room=4):
        settled = worker.settle(*map(page, list(worker.hand.values())), checkpoint="targets")
        written += settled.checkpoint is not None
    return written
