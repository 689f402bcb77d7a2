"""Looks: what people ask beyond books and rows, alike on every ledger."""

from __future__ import annotations

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, page, retry, skip, succeed
from conformance.worker import Worker
from holdfast.model.record import Checkpoint

POND = "https://pond.test"


class TestFindingTargets:
    def test_a_target_is_found_by_its_key_in_its_own_job_only(self, bench: Bench) -> None:
        worker, other = bench.working(pages=2), bench.submitted("pond")
        key = bench.found(f"{MARSH}/frog/2").key
        found = bench.ledger.find(worker.job, key)
        assert found == bench.target(worker.job, f"{MARSH}/frog/2")
        assert bench.ledger.find(other.id, key) is None

    def test_the_attempts_of_a_target_come_oldest_first(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(retry, worker.claim()))
        [here] = worker.claim()
        worker.settle(fail(here))
        tries = bench.ledger.attempts(here.id)
        told = [(row.n, row.outcome, row.code) for row in tries]
        assert told == [(1, "retry", "http_5xx"), (2, "failed", "http_404")]


class TestFailures:
    def test_failures_come_by_code_and_host_the_largest_group_first(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        first, second, third = worker.claim()
        worker.settle(fail(first), fail(second))
        bench.clock.advance(5)
        worker.settle(fail(third, code="network_timeout", because="no byte for 30 s"))
        large, small = bench.ledger.failures(worker.job)
        assert (large.code, large.host, large.count, large.message) == ("http_404", "marsh.test", 2, "no such page")
        assert (small.code, small.count, small.message) == ("network_timeout", 1, "no byte for 30 s")
        assert small.target == third.id
        assert small.url == third.url
        assert large.first_at == large.last_at
        assert small.first_at is not None
        assert large.last_at is not None
        assert small.first_at - large.last_at == 5000

    def test_what_waits_or_succeeded_is_no_failure(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first), retry(second, wait_ms=60_000))
        assert bench.ledger.failures(worker.job) == []

    def test_only_as_many_groups_come_as_were_asked_for(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(fail(first), fail(second, code="http_403"))
        assert len(bench.ledger.failures(worker.job, limit=1)) == 1


class TestEvents:
    def test_events_and_runs_come_in_the_order_of_time(self, bench: Bench) -> None:
        job = bench.started()
        bench.clock.advance(1)
        bench.ledger.open_run(job.id, mode="full", trigger="cli")
        told = [(row.thing, row.verb, row.name) for row in bench.ledger.events(job.id)]
        assert told == [("job", "submit", "marsh"), ("job", "start", "marsh"), ("run", "start", "marsh")]

    def test_a_run_that_a_crash_ended_is_told_when_the_next_begins(self, bench: Bench) -> None:
        job = bench.started()
        bench.ledger.open_run(job.id, mode="full", trigger="cli")
        bench.clock.advance(1)
        bench.ledger.open_run(job.id, mode="full", trigger="cli")
        ended = bench.ledger.events(job.id, kinds=[("run", "finish")])
        assert [(row.target, row.because) for row in ended] == [("failed", "crash")]

    def test_without_a_job_the_events_of_all_jobs_come(self, bench: Bench) -> None:
        uids = {bench.submitted(name).uid for name in ("marsh", "pond")}
        assert {row.uid for row in bench.ledger.events()} == uids

    def test_pages_of_events_neither_lose_nor_repeat_one(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        whole = bench.ledger.events(worker.job)
        found = bench.ledger.events(worker.job, limit=3)
        while more := bench.ledger.events(worker.job, after=found[-1].place, limit=3):
            found += more
        assert found == whole

    def test_the_newest_come_in_the_order_of_time_too(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        assert bench.ledger.events(worker.job, newest=True, limit=4) == bench.ledger.events(worker.job)[-4:]

    def test_events_are_chosen_by_time_and_kind(self, bench: Bench) -> None:
        job = bench.started()
        bench.clock.advance(10)
        before = bench.ledger.events(job.id)[-1].at
        bench.ledger.request(job.id, "pause", actor="user", because="asked for")
        assert [row.verb for row in bench.ledger.events(job.id, since=before + 1)] == ["request_pause"]
        assert [row.verb for row in bench.ledger.events(job.id, kinds=[("job", "start")])] == ["start"]
        rest = bench.ledger.events(job.id, without=[("job", "start")])
        assert [row.verb for row in rest] == ["submit", "request_pause"]

    def test_what_is_beyond_the_numbers_known_comes_whatever_the_clock_says(self, bench: Bench) -> None:
        """A clock that was set back puts new events before old ones."""
        worker = bench.working(pages=1)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        told = bench.ledger.events(worker.job)
        known = {row.chunk: row.seq for row in sorted(told, key=lambda row: row.seq)}
        assert bench.ledger.events(worker.job, beyond=known) == []
        bench.clock.set_wall(told[0].at - 3_600_000)
        bench.ledger.request(worker.job, "pause", actor="user", because="asked for")
        bench.ledger.open_run(worker.job, mode="resume", trigger="cli")
        new = [row for row in bench.ledger.events(worker.job) if row not in told]
        assert {row.verb for row in new} == {"request_pause", "start", "finish"}
        assert bench.ledger.events(worker.job, beyond=known) == new


class TestCheckpoints:
    def test_checkpoints_come_newest_first_page_by_page(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        for here in worker.claim():
            worker.settle(succeed(here), checkpoint="targets")
        numbers = [row.number for row in bench.ledger.checkpoints(worker.job)]
        assert numbers == [3, 2, 1]
        assert [row.number for row in bench.ledger.checkpoints(worker.job, before=3, limit=1)] == [2]
        assert all(row.point is not None for row in bench.ledger.checkpoints(worker.job))

    def test_the_lists_of_a_checkpoint_stay_as_they_were_then(self, bench: Bench) -> None:
        """CHK-04, CHK-09."""
        worker = crawled_half(bench)
        point = newest(bench, worker)
        before = lists_of(bench, worker.job, point)
        assert before == (
            [(f"{MARSH}/frog/1", "succeeded"), (f"{MARSH}/frog/2", "skipped")],
            [f"{MARSH}/a", f"{MARSH}/frog/3"],
            [f"{POND}/"],
        )
        for here in worker.claim():
            worker.settle(succeed(here, found=(bench.found(f"{here.url}/later", depth=2),)))
        assert lists_of(bench, worker.job, point) == before
        bench.reopen()
        assert lists_of(bench, worker.job, point) == before

    def test_the_lists_come_page_by_page_and_are_complete(self, bench: Bench) -> None:
        worker = crawled_half(bench)
        point = newest(bench, worker)
        whole = bench.ledger.as_of(worker.job, point.commits, settled=False)
        found = bench.ledger.as_of(worker.job, point.commits, settled=False, limit=1)
        while more := bench.ledger.as_of(worker.job, point.commits, settled=False, after=found[-1].id, limit=1):
            found += more
        assert found == whole
        assert len(found) == point.counts.pending + point.counts.in_progress

    def test_what_a_retry_or_an_exclusion_overwrote_is_still_listed_as_it_was(self, bench: Bench) -> None:
        """CHK-04: named verbs leave undo rows, so the lists of an earlier checkpoint do not change."""
        worker = bench.working(pages=4)
        first, second, third = worker.claim(room=3)
        worker.settle(succeed(first), fail(second), checkpoint="targets")
        point = newest(bench, worker)
        before = lists_of(bench, worker.job, point)
        bench.ledger.exclude(worker.job, "/frog/4", actor="user")
        bench.ledger.sweep(worker.job, 1)
        worker.settle(fail(third))
        worker.ledger.advance(worker.job, worker.control)
        bench.ledger.reopen(worker.job, "retry", actor="user", because="asked for")
        while bench.ledger.walk(worker.job).left:
            continue
        assert bench.counts(worker.job)["pending"] == 2
        assert lists_of(bench, worker.job, point) == before
        assert before[0] == [(f"{MARSH}/frog/1", "succeeded"), (f"{MARSH}/frog/2", "failed")]
        assert before[1] == [f"{MARSH}/frog/3", f"{MARSH}/frog/4"]

    def test_depth_parent_type_and_priority_are_kept(self, bench: Bench) -> None:
        worker = crawled_half(bench)
        rows = bench.ledger.as_of(worker.job, newest(bench, worker).commits, settled=False)
        child = next(row for row in rows if row.url == f"{MARSH}/a")
        parent = bench.target(worker.job, f"{MARSH}/frog/1")
        assert (child.depth, child.parent, child.type, child.priority) == (1, parent.id, "page", 0)


class TestPulse:
    def test_the_pulse_is_the_time_of_the_last_commit(self, bench: Bench) -> None:
        assert bench.ledger.pulse(bench.submitted("pond").id) == 0
        worker = bench.working(pages=1)
        before = bench.ledger.pulse(worker.job)
        bench.clock.advance(7)
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.pulse(worker.job) - before == 7000

    def test_a_rescue_is_no_pulse(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.claim(room=1)
        died_at = bench.ledger.pulse(worker.job)
        bench.clock.advance(7)
        bench.dead.add(worker.owner)
        assert bench.ledger.rescue(worker.job, is_dead=bench.is_dead).targets == 1
        assert bench.ledger.pulse(worker.job) == died_at


def crawled_half(bench: Bench) -> Worker:
    """Three pages: one done that led to another and out of scope, one skipped, one still queued; a checkpoint."""
    worker = bench.working(pages=3)
    first, second = worker.claim(room=2)
    found, out = bench.found(f"{MARSH}/a", depth=1), bench.external(f"{POND}/")
    worker.settle(page(first, found=(found,), external=(out,)), skip(second), checkpoint="targets")
    return worker


def newest(bench: Bench, worker: Worker) -> Checkpoint:
    point = bench.ledger.checkpoints(worker.job)[0].point
    assert point is not None
    return point


def lists_of(bench: Bench, job: int, point: Checkpoint) -> tuple[list[tuple[str, str | None]], list[str], list[str]]:
    visited = bench.ledger.as_of(job, point.commits, settled=True)
    queued = bench.ledger.as_of(job, point.commits, settled=False)
    links = [url for _, url in bench.ledger.links_out(job, point.commits)]
    return sorted((row.url, row.status) for row in visited), sorted(row.url for row in queued), links
