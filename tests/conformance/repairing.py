"""Repair: succeeded targets whose bytes are gone are fetched again; everything else stays as it is."""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.verdicts import fail, page, succeed
from conformance.worker import Worker
from holdfast.errors import IllegalMove

WHY = "its stored bytes are gone"


class TestRepair:
    def test_a_finished_job_goes_on_with_what_was_put_back(self, bench: Bench) -> None:
        worker, good, bad = finished(bench)
        assert bench.ledger.repair(worker.job, [good, bad], actor="doctor", because=WHY) == 1
        assert bench.job(worker.job).status == "in_progress"
        assert bench.counts(worker.job)["pending"] == 1
        row = next(row for row in bench.targets(worker.job) if row.id == good)
        assert (row.status, row.because, row.generation, row.attempts) == ("pending", WHY, 2, 0)

    def test_it_is_fetched_once_more_and_the_job_ends_again(self, bench: Bench) -> None:
        worker, good, _ = finished(bench)
        bench.ledger.repair(worker.job, [good], actor="doctor", because=WHY)
        other = bench.worker(worker.job)
        other.lease()
        [here] = other.claim()
        assert here.id == good
        other.settle(page(here))
        ended = other.ledger.advance(worker.job, other.control)
        assert ended is not None
        assert ended.status == "completed"

    def test_what_has_no_bytes_any_more_is_not_served_until_it_is_fetched(self, bench: Bench) -> None:
        worker, good, _ = finished(bench)
        bench.ledger.repair(worker.job, [good], actor="doctor", because=WHY)
        assert [row.target for row in bench.ledger.pages(worker.job)] == []
        other = bench.worker(worker.job)
        other.lease()
        other.settle(*(fail(here, code="http_5xx", status_code=500) for here in other.claim()))
        assert [row.target for row in bench.ledger.pages(worker.job)] == []

    def test_a_running_job_keeps_running(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        worker.settle(page(here))
        assert bench.ledger.repair(worker.job, [here.id], actor="doctor", because=WHY) == 1
        assert bench.job(worker.job).status == "in_progress"
        assert bench.counts(worker.job)["pending"] == 2

    def test_what_did_not_succeed_or_is_of_another_job_is_left(self, bench: Bench) -> None:
        worker, _, bad = finished(bench)
        other = bench.submitted("pond")
        assert bench.ledger.repair(worker.job, [bad, 10**6], actor="doctor", because=WHY) == 0
        assert bench.ledger.repair(other.id, [bad], actor="doctor", because=WHY) == 0
        assert bench.job(worker.job).status == "completed"

    def test_a_cancelled_job_wants_nothing_back(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        worker.settle(page(here))
        worker.release()
        bench.ledger.request(worker.job, "cancel", actor="user", because="asked for")
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        with pytest.raises(IllegalMove):
            bench.ledger.repair(worker.job, [here.id], actor="doctor", because=WHY)


def finished(bench: Bench) -> tuple[Worker, int, int]:
    """A completed job: (its worker, a page that succeeded, one that failed)."""
    worker = bench.working(pages=3)
    first, second, third = worker.claim()
    worker.settle(page(first), succeed(third), fail(second))
    worker.ledger.advance(worker.job, worker.control)
    worker.release()
    return worker, first.id, second.id
