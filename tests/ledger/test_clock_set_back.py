"""The wall clock is set back: whatever waits, waits as long as was asked and not longer; what is ready is ready (E13).

The ledger in memory has no due times, so it is left out.
"""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.verdicts import retry, succeed

HOUR_MS = 3_600_000
pytestmark = pytest.mark.parametrize("bench", ["sqlite", "postgres"], indirect=True)


def set_back(bench: Bench, ms: int = HOUR_MS) -> None:
    bench.clock.set_wall(bench.clock.wall_ms() - ms)


def test_what_is_ready_is_claimed_at_once(bench: Bench) -> None:
    worker = bench.working(pages=3)
    worker.claim(room=1)
    set_back(bench)
    assert len(worker.claim(room=1)) == 1


def test_what_was_found_before_is_claimed_at_once(bench: Bench) -> None:
    worker = bench.working(pages=1)
    [here] = worker.claim()
    worker.settle(succeed(here, found=(bench.found("https://marsh.test/frog/9", depth=1),)))
    set_back(bench)
    assert len(worker.claim()) == 1


def test_a_retry_waits_for_what_was_left_of_its_time(bench: Bench) -> None:
    worker = bench.working(pages=1)
    [here] = worker.claim()
    worker.settle(retry(here, wait_ms=5_000))
    set_back(bench)
    assert worker.send([], worker.wish()).next_due_ms == 5_000
    bench.clock.advance(5)
    assert len(worker.claim()) == 1


def test_the_next_worker_waits_no_longer_either(bench: Bench) -> None:
    """Set back while nobody worked: the lease sees it."""
    worker = bench.working(pages=1)
    [here] = worker.claim()
    worker.settle(retry(here, wait_ms=5_000))
    worker.ledger.release(tuple(worker.leases.values()))
    set_back(bench)
    successor = bench.worker(worker.job)
    successor.lease()
    assert successor.send([], successor.wish()).next_due_ms == 5_000


def test_a_host_that_asked_for_patience_gets_it_and_no_more(bench: Bench) -> None:
    worker = bench.working(pages=2)
    [here] = worker.claim(room=1)
    worker.settle(retry(here, hold_host_ms=7_000))
    set_back(bench)
    assert worker.claim() == []
    bench.clock.advance(7)
    assert len(worker.claim()) == 2


def test_a_clock_set_back_by_less_than_a_second_moves_nothing(bench: Bench) -> None:
    worker = bench.working(pages=1)
    [here] = worker.claim()
    worker.settle(retry(here, wait_ms=5_000))
    set_back(bench, 900)
    assert worker.send([], worker.wish()).next_due_ms == 5_900
