"""Phases: a drained phase opens the next one, what was put back opens an earlier one again, and targets without a host
are claimed as fast as there are hands (JOB-04, CHK-02)."""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.fencing import take_over
from conformance.verdicts import fail, page, retry, succeed
from conformance.worker import Worker
from holdfast import faults
from holdfast.model.job import Phases
from holdfast.model.target import Found
from holdfast.recipe import Context

TWO = Phases(("crawling", "extracting"), ("text",))


def texts(bench: Bench, n: int) -> list[Found]:
    """Targets that are made of stored bytes."""
    context = Context(params={}, salt=bench.ledger.salt(), chunking="host")
    return [context.made(f"text/{index}", type="text") for index in range(n)]


def crawled(bench: Bench, pages: int = 2) -> Worker:
    """A worker whose first phase is drained."""
    worker = bench.working(pages=pages)
    worker.settle(*map(succeed, worker.claim()))
    return worker


def extracting(bench: Bench, n: int = 3) -> Worker:
    """A worker in the second phase, its plan enqueued."""
    worker = crawled(bench)
    assert bench.ledger.advance(worker.job, worker.control, phases=TWO) is not None
    worker.enqueue(*texts(bench, n))
    return worker


class TestAdvance:
    def test_a_drained_phase_opens_the_next_one_with_a_plan_of_its_own(self, bench: Bench) -> None:
        worker = crawled(bench)
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert job is not None
        assert (job.status, job.phase, job.plan_done) == ("in_progress", "extracting", False)
        assert bench.ledger.plan(worker.job) == (0, False, b"")
        assert bench.verbs(worker.job, worker.control.chunk)[-1] == "advance"
        point = bench.ledger.books(worker.job)[2]
        assert point is not None
        assert (point.reason, point.phase) == ("phase", "extracting")
        told = bench.ledger.events(worker.job, kinds=[("phase", "advance")])
        assert [(row.source, row.target) for row in told] == [("crawling", "extracting")]

    @pytest.mark.parametrize("left", ["held", "ready", "plan", "request", "lease"])
    def test_a_phase_does_not_open_early(self, bench: Bench, left: str) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first))
        if left != "held":
            worker.settle(succeed(second))
        match left:
            case "ready":
                worker = bench.working(2, "pond")
                worker.settle(succeed(worker.claim()[0]))
            case "plan":
                worker = bench.worker(bench.started("pond").id)
                worker.lease()
                worker.enqueue(*bench.found_pages(1), done=False)
                worker.settle(*map(succeed, worker.claim()))
            case "request":
                bench.ledger.request(worker.job, "pause", actor="ann", because="tea")
            case "lease":
                take_over(bench, worker)
        assert bench.ledger.advance(worker.job, worker.control, phases=TWO) is None
        assert bench.job(worker.job).phase == "crawling"

    def test_an_advance_that_failed_before_its_commit_never_was(self, bench: Bench) -> None:
        worker = crawled(bench)
        faults.arm("advance.before_commit:1:raise")
        with pytest.raises(faults.InjectedFault):
            bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert bench.job(worker.job).phase == "crawling"

    def test_a_repeated_advance_opens_no_further_phase(self, bench: Bench) -> None:
        """Its first answer may have been lost."""
        worker = crawled(bench)
        three = Phases(("crawling", "extracting", "generating"))
        assert bench.ledger.advance(worker.job, worker.control, phases=three) is not None
        assert bench.open().advance(worker.job, worker.control, phases=three) is None
        assert bench.job(worker.job).phase == "extracting"

    def test_the_last_phase_ends_the_job(self, bench: Bench) -> None:
        worker = extracting(bench)
        assert bench.ledger.advance(worker.job, worker.control, phases=TWO) is None
        worker.settle(*map(succeed, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert job is not None
        assert (job.status, job.phase) == ("completed", "extracting")
        assert bench.counts(worker.job)["succeeded"] == 5

    def test_a_job_whose_seeds_all_failed_opens_no_further_phase(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(fail, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert job is not None
        assert (job.status, job.phase) == ("failed", "crawling")

    def test_what_is_put_back_opens_its_phase_again_and_the_later_ones_behind_it(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first), fail(second))
        bench.ledger.advance(worker.job, worker.control, phases=TWO)
        worker.enqueue(*texts(bench, 1))
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.advance(worker.job, worker.control, phases=TWO).status == "completed"  # type: ignore[union-attr]
        bench.ledger.reopen(worker.job, "retry", actor="ann", because="again")
        bench.ledger.walk(worker.job)
        assert worker.claim() == []  # not in this phase
        back = bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert back is not None
        assert (back.phase, back.plan_done) == ("crawling", True)
        [again] = worker.claim()
        assert again.id == second.id
        worker.settle(succeed(again))
        on = bench.ledger.advance(worker.job, worker.control, phases=TWO)
        assert on is not None
        assert (on.phase, on.plan_done) == ("extracting", False)
        worker.enqueue(*texts(bench, 2))
        assert [each.url for each in worker.claim()] == ["text/1"]  # the other one is known, and done

    def test_a_rescan_begins_with_the_first_phase_whatever_phase_the_job_ended_in(self, bench: Bench) -> None:
        """Nothing is made of pages that are about to be fetched again."""
        worker = extracting(bench)
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.advance(worker.job, worker.control, phases=TWO).status == "completed"  # type: ignore[union-attr]
        bench.ledger.reopen(worker.job, "rescan", actor="user", because="look again")
        job = bench.job(worker.job)
        assert (job.phase, job.plan_done) == ("crawling", True)
        told = bench.ledger.events(worker.job, kinds=[("phase", "advance")])[-1]
        assert (told.source, told.target, told.actor) == ("extracting", "crawling", "user")

    def test_records_of_every_generation_can_be_read_and_as_of_a_checkpoint(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(page, worker.claim()), checkpoint="targets")
        point = bench.ledger.checkpoints(worker.job)[0].point
        bench.ledger.advance(worker.job, worker.control)
        bench.ledger.reopen(worker.job, "rescan", actor="user", because="look again")
        bench.ledger.walk(worker.job)
        worker.settle(*map(page, worker.claim()))
        both = bench.ledger.generations(worker.job, "page")
        assert [(row.generation, row.n) for row in both] == [(1, 0), (2, 0)]
        assert point is not None
        assert bench.ledger.generations(worker.job, "page", commits=point.commits) == both[:1]
        assert bench.ledger.generations(worker.job, "page", after=(both[0].target, 1, 0), limit=1) == both[1:]
        assert bench.ledger.generations(worker.job, "page", commits={}) == []
        assert bench.ledger.generations(worker.job, "text") == []

    def test_details_are_those_of_now_or_of_a_checkpoint_whatever_was_put_back_since(self, bench: Bench) -> None:
        """CHK-04, CHK-07: status, record and last try as of the commit numbers."""
        worker = bench.working(pages=3)
        first, second, third = sorted(worker.claim(), key=lambda here: here.id)
        worker.settle(page(first), fail(second), retry(third, wait_ms=0), checkpoint="targets")
        point = bench.ledger.checkpoints(worker.job)[0].point
        assert point is not None
        then = bench.ledger.details(worker.job, commits=point.commits)
        assert [row.status for row in then] == ["succeeded", "failed", "pending"]
        assert [bool(row.record) for row in then] == [True, False, False]
        assert (then[1].code, then[1].attempts, then[1].last_code) == ("http_404", 1, "http_404")
        assert (then[2].attempts, then[2].last_code) == (1, "http_5xx")
        worker.settle(*map(page, worker.claim()))
        tried = bench.ledger.details(worker.job, commits=point.commits)[2]
        assert (tried.status, tried.attempts, tried.last_code) == ("pending", 1, "http_5xx")
        bench.ledger.advance(worker.job, worker.control)
        bench.ledger.reopen(worker.job, "rescan", actor="user", because="look again")
        bench.ledger.walk(worker.job)
        now = bench.ledger.details(worker.job)
        assert {row.status for row in now} == {"pending"}
        assert [row.status for row in bench.ledger.details(worker.job, commits=point.commits)] == [
            "succeeded", "failed", "pending",
        ]  # fmt: skip
        again = bench.ledger.details(worker.job, commits=point.commits)
        assert [row.record for row in again] == [row.record for row in then]
        assert bench.ledger.details(worker.job, commits={}) == []
        without = bench.ledger.details(worker.job, commits=point.commits, records_of=["text"])
        assert [row.record for row in without] == [b""] * 3

    def test_a_page_limit_ends_the_first_phase_and_the_job_behind_the_last(self, bench: Bench) -> None:
        """Pages that were not fetched stay pending, the others go through every phase."""
        worker = bench.working(pages=3)
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO, pages_max=2)
        assert job is not None
        assert (job.status, job.phase) == ("in_progress", "extracting")
        worker.enqueue(*texts(bench, 4))
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO, pages_max=2)
        assert job is not None
        assert (job.status, job.stop_reason, job.phase) == ("timeout", "page_limit", "extracting")
        assert bench.counts(worker.job)["pending"] == 1

    def test_a_raised_page_limit_goes_on_in_the_first_phase_where_its_plan_was(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(2), done=False)
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        assert bench.ledger.advance(worker.job, worker.control, phases=TWO, pages_max=2) is not None
        worker.enqueue()
        job = bench.ledger.advance(worker.job, worker.control, phases=TWO, pages_max=2)
        assert job is not None
        assert (job.status, job.stop_reason) == ("timeout", "page_limit")
        bench.ledger.move(worker.job, "resume", actor="ann", because="more")
        back = bench.ledger.advance(worker.job, worker.control, phases=TWO, pages_max=5)
        assert back is not None
        assert (back.phase, back.plan_done) == ("crawling", False)
        assert bench.ledger.plan(worker.job)[:2] == (2, False)

    def test_a_rollback_behind_a_phase_goes_back_to_the_earlier_one(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first), checkpoint="manual")
        point = bench.ledger.books(worker.job)[2]
        assert point is not None
        worker.settle(succeed(second))
        bench.ledger.advance(worker.job, worker.control, phases=TWO)
        worker.enqueue(*texts(bench, 2))
        bench.ledger.rollback(worker.job, point.number, actor="ann", is_dead=bench.is_dead)
        job = bench.job(worker.job)
        assert (job.status, job.phase, job.plan_done) == ("paused", "crawling", True)
        assert {row.type for row in bench.targets(worker.job)} == {"page"}


class TestNoHost:
    def test_targets_without_a_host_are_claimed_whatever_the_delay_and_the_room_at_hosts(self, bench: Bench) -> None:
        worker = extracting(bench, n=5)
        assert len(worker.claim(delay_ms=60_000, per_host=1)) == 5

    def test_a_settle_frees_no_host_and_the_next_claim_waits_for_nothing(self, bench: Bench) -> None:
        worker = extracting(bench, n=5)
        claimed = worker.claim(2, delay_ms=60_000, per_host=1)
        settled = worker.settle(*map(succeed, claimed), wish=worker.wish(2, delay_ms=60_000, per_host=1))
        assert len(settled.claimed) == 2
        assert "" not in {row.host for row in bench.ledger.hosts()}

    def test_what_a_dead_worker_held_comes_back(self, bench: Bench) -> None:
        worker = extracting(bench, n=3)
        worker.claim()
        heir = take_over(bench, worker)
        assert len(heir.claim(alone=True)) == 1  # suspects, one by one
