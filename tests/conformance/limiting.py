"""Limits: no claim leads beyond the page limit, and a limit that is reached ends the job with all it has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, hand_back, retry, skip, succeed
from conformance.worker import Worker

ROUNDS_MAX = 60


class TestPageLimit:
    def test_a_claim_never_leads_beyond_the_limit(self, bench: Bench) -> None:
        """PAU-08: what is in hand counts, before anybody knows how it ends."""
        worker = bench.working(pages=9)
        first = worker.send([], worker.wish(room=3, pages_max=4))
        assert (len(first.claimed), first.pages_left) == (3, 1)
        second = worker.send([], worker.wish(pages_max=4))
        assert (len(second.claimed), second.pages_left) == (1, 0)
        assert worker.take(worker.wish(pages_max=4)) == []

    def test_a_settle_and_its_claim_count_once(self, bench: Bench) -> None:
        worker = bench.working(pages=9)
        here, there = worker.claim(room=2)
        settled = worker.settle(succeed(here), fail(there), wish=worker.wish(pages_max=3))
        assert (len(settled.claimed), settled.pages_left) == (1, 0)

    @pytest.mark.parametrize("ending", [retry, hand_back, skip])
    def test_what_was_not_fetched_to_an_end_makes_room_for_another(self, bench: Bench, ending: object) -> None:
        worker = bench.working(pages=9)
        [here] = worker.take(worker.wish(pages_max=1))
        assert callable(ending)
        settled = worker.settle(ending(here), wish=worker.wish(pages_max=1))
        assert len(settled.claimed) == 1

    def test_what_a_dead_worker_held_is_claimable_again_under_the_limit(self, bench: Bench) -> None:
        worker = bench.working(pages=9)
        assert len(worker.take(worker.wish(pages_max=2))) == 2
        bench.dead.add(worker.owner)
        other = bench.worker(worker.job)
        other.lease()
        assert len(other.take(other.wish(pages_max=2, alone=True))) == 1
        assert len(other.take(other.wish(pages_max=2))) == 1
        assert other.take(other.wish(pages_max=2)) == []

    def test_a_suspect_is_not_claimed_beyond_the_limit(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim(room=1)
        bench.dead.add(worker.owner)
        other = bench.worker(worker.job)
        other.lease()
        [here] = other.take(other.wish(room=1, pages_max=1))
        other.settle(succeed(here))
        assert other.take(other.wish(pages_max=1, alone=True)) == []

    def test_two_workers_at_once_stay_within_the_limit(self, bench: Bench) -> None:
        """Exact with two processes: their claims take turns, whatever each of them can see."""
        first = bench.worker(bench.started().id)
        first.lease(want=8)
        second = bench.worker(first.job)
        second.lease()
        first.enqueue(*(bench.found(f"{MARSH}/{n}", index=n % 16) for n in range(200)))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_work_to_the_limit, (first, second)))
        counts = bench.counts(first.job)
        assert (counts["succeeded"], counts["in_progress"], counts["pending"]) == (50, 0, 150)

    def test_at_its_limit_a_job_is_timed_out_and_keeps_what_is_pending(self, bench: Bench) -> None:
        """PAU-08, CHK-02, JOB-09."""
        worker = bench.working(pages=3)
        claimed = worker.take(worker.wish(pages_max=2))
        assert bench.ledger.advance(worker.job, worker.control, pages_max=2) is None
        worker.settle(*map(succeed, claimed))
        job = bench.ledger.advance(worker.job, worker.control, pages_max=2)
        assert job is not None
        assert (job.status, job.stop_reason, job.health) == ("timeout", "page_limit", "partial")
        _, counts, point = bench.ledger.books(worker.job)
        assert (counts.succeeded, counts.pending) == (2, 1)
        assert point is not None
        assert (point.reason, point.counts.succeeded) == ("limit", 2)
        assert bench.events(worker.job)[-1] == ("time_out", "in_progress", "timeout")
        assert bench.ledger.advance(worker.job, worker.control, pages_max=2) == job

    def test_a_job_that_is_drained_at_its_limit_is_complete(self, bench: Bench) -> None:
        """JOB-09: nothing is left to be kept from."""
        worker = bench.working(pages=2)
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        job = bench.ledger.advance(worker.job, worker.control, pages_max=2)
        assert job is not None
        assert (job.status, job.stop_reason) == ("completed", None)

    def test_a_job_is_not_at_its_limit_while_a_walk_stands(self, bench: Bench) -> None:
        """L10, TGT-04: what the walk puts back leaves the count of pages."""
        worker = bench.working(pages=2)
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        bench.ledger.advance(worker.job, worker.control, pages_max=2)
        worker.release()
        bench.ledger.reopen(worker.job, "rescan", actor="ann", because="again")
        worker.lease()
        assert worker.take(worker.wish(pages_max=2)) == []
        assert bench.ledger.advance(worker.job, worker.control, pages_max=2) is None
        assert bench.ledger.walk(worker.job).requeued == 2
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        job = bench.ledger.advance(worker.job, worker.control, pages_max=2)
        assert job is not None
        assert (job.status, job.stop_reason) == ("completed", None)

    def test_with_a_higher_limit_it_goes_on(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=2))))
        bench.ledger.advance(worker.job, worker.control, pages_max=2)
        worker.release()
        job = bench.ledger.move(worker.job, "resume", actor="ann", because="more")
        assert (job.status, job.stop_reason, job.health) == ("in_progress", None, None)
        worker.lease()
        worker.settle(*map(succeed, worker.take(worker.wish(pages_max=4))))
        finished = bench.ledger.advance(worker.job, worker.control, pages_max=4)
        assert finished is not None
        assert finished.status == "completed"


class TestTimeLimit:
    def test_nothing_is_claimed_after_time_was_called(self, bench: Bench) -> None:
        """L11."""
        worker = bench.working(pages=3)
        [here] = worker.claim(room=1)
        bench.ledger.request(worker.job, "time_out", actor="worker", because="enough")
        settled = worker.settle(succeed(here), wish=worker.wish())
        assert settled.claimed == ()
        assert settled.answers[here.chunk].requested == "time_out"
        assert worker.claim() == []
        assert bench.worker(worker.job).lease() == ()

    def test_time_is_out_when_nobody_holds_a_chunk_any_more(self, bench: Bench) -> None:
        """PAU-08, CHK-02: the checkpoint, then the word; what was in hand is pending again."""
        worker = bench.working(pages=3)
        worker.claim(room=1)
        worker.renew(active_ms=3_000)
        bench.ledger.request(worker.job, "time_out", actor="worker", because="the time limit is reached")
        assert bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead) is None
        worker.release()
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert (job.status, job.requested, job.stop_reason) == ("timeout", None, "time_limit")
        assert (job.health, job.because) == ("partial", "the time limit is reached")
        _, counts, point = bench.ledger.books(worker.job)
        assert (counts.pending, counts.in_progress) == (3, 0)
        assert point is not None
        assert (point.reason, point.active_ms) == ("timeout", 3_000)
        assert bench.events(worker.job)[-2:] == [
            ("request_time_out", "in_progress", "in_progress"),
            ("time_out", "in_progress", "timeout"),
        ]

    def test_a_time_out_that_its_caller_did_not_live_to_see_is_carried_out(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim()
        bench.ledger.request(worker.job, "time_out", actor="worker", because="enough")
        bench.dead.add(worker.owner)
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert job.status == "timeout"

    def test_a_pause_does_not_soften_it_and_a_cancel_outranks_it(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        for action, stands in (("time_out", "time_out"), ("pause", "time_out"), ("cancel", "cancel")):
            bench.ledger.request(worker.job, action, actor="ann", because="enough")
            assert bench.job(worker.job).requested == stands
        worker.release()
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert (job.status, job.stop_reason) == ("cancelled", None)


class TestStale:
    def test_a_stale_job_is_failed_with_what_is_pending(self, bench: Bench) -> None:
        """PAU-09."""
        worker = bench.working(pages=2)
        job = bench.ledger.advance(worker.job, worker.control, stale="nothing moved")
        assert job is not None
        assert (job.status, job.stop_reason, job.health, job.last_error) == (
            "failed", "stale", "failed", "nothing moved",
        )  # fmt: skip
        assert bench.counts(worker.job)["pending"] == 2

    def test_a_job_that_is_drained_meanwhile_is_complete(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control, stale="nothing moved")
        assert job is not None
        assert job.status == "completed"

    def test_only_the_holder_of_the_control_calls_it_stale(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        control = worker.control
        worker.release()
        assert bench.ledger.advance(worker.job, control, stale="nothing moved") is None
        assert bench.job(worker.job).status == "in_progress"


def _work_to_the_limit(worker: Worker) -> None:
    for _ in range(ROUNDS_MAX):
        settled = worker.settle(*map(succeed, list(worker.hand.values())), wish=worker.wish(room=7, pages_max=50))
        if not settled.claimed and not worker.hand:
            return


class TestTargetsPerHost:
    """FRO-11: a cap per host ends no job; what is found beyond it is a row, skipped under `limit` with its rule."""

    def finding(self, bench: Bench, worker: Worker, *urls: str, most: int = 5) -> dict[str, tuple[str, str | None]]:
        """Settle one page that leads to these; how they ended."""
        [here] = worker.claim(room=1)
        worker.settle(succeed(here, found=tuple(bench.found(url, depth=1) for url in urls)), per_host_max=most)
        rows = {row.url: (row.status, row.rule) for row in bench.ledger.targets(worker.job, limit=1000)}
        return {url: rows[url] for url in urls}

    def test_what_is_new_beyond_the_cap_is_skipped_in_the_order_of_finding(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        urls = [f"{MARSH}/toad/{n}" for n in (9, 2, 7, 4)]
        ended = self.finding(bench, worker, f"{MARSH}/frog/2", *urls)
        assert list(ended.values()) == [("pending", None)] * 3 + [("skipped", "targets_per_host")] * 2
        counts = bench.ledger.books(worker.job)[1]
        assert (counts.discovered, counts.skipped_by) == (7, {"limit": 2})

    def test_each_host_has_its_own_and_what_was_left_out_stays_so(self, bench: Bench) -> None:
        worker = bench.working(pages=5)
        ended = self.finding(bench, worker, f"{MARSH}/toad/1", "https://pond.test/toad/1")
        assert list(ended.values()) == [("skipped", "targets_per_host"), ("pending", None)]
        assert self.finding(bench, worker, f"{MARSH}/toad/1", most=0) == {f"{MARSH}/toad/1": ended[f"{MARSH}/toad/1"]}

    def test_it_counts_what_is_there_already_and_goes_on_after_a_restart(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        self.finding(bench, worker, f"{MARSH}/toad/1", most=0)
        assert self.finding(bench, worker, f"{MARSH}/toad/2") == {f"{MARSH}/toad/2": ("pending", None)}
        bench.reopen()
        assert self.finding(bench, worker, f"{MARSH}/toad/3") == {f"{MARSH}/toad/3": ("skipped", "targets_per_host")}

    def test_a_run_that_begins_counts_afresh_so_a_raised_cap_or_rows_that_came_without_it_are_seen(
        self, bench: Bench
    ) -> None:
        worker = bench.working(pages=3)
        self.finding(bench, worker, f"{MARSH}/toad/1")
        self.finding(bench, worker, f"{MARSH}/toad/2", f"{MARSH}/toad/3", most=0)
        worker.ledger.open_run(worker.job, mode="resume", trigger="cli")
        ended = self.finding(bench, worker, f"{MARSH}/toad/4", f"{MARSH}/toad/5", most=7)
        assert list(ended.values()) == [("pending", None), ("skipped", "targets_per_host")]

    def test_what_was_planned_is_asked_for_and_counts(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(2), done=False)
        assert self.finding(bench, worker, f"{MARSH}/toad/1") == {f"{MARSH}/toad/1": ("pending", None)}
        worker.enqueue(*(bench.found(f"{MARSH}/newt/{n}") for n in range(4)), cursor=2)
        assert bench.ledger.books(worker.job)[1].skipped == 0
        assert self.finding(bench, worker, f"{MARSH}/toad/2") == {f"{MARSH}/toad/2": ("skipped", "targets_per_host")}
