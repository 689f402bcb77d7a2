"""Surveys: the frontier, breakdowns, runs and what changed between two, alike on every ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from conformance.bench import MARSH, Bench
from conformance.reopening import finished, walk_to_the_end
from conformance.verdicts import fail, page, retry, skip, succeed, unchanged
from conformance.worker import Worker
from holdfast.errors import BadParams
from holdfast.model.edit import NEW
from holdfast.model.host import UNREACHABLE, KeptRobots
from holdfast.model.look import RunLook
from holdfast.model.outcome import Record, Verdict
from holdfast.model.states import COUNTED
from holdfast.model.target import Claimed
from holdfast.policy.robots import PRODUCT

POND = "https://pond.test"


class TestFrontier:
    def test_hosts_with_work_come_the_fullest_first(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.settle(*(succeed(here, found=_ponds(bench, here.depth)) for here in worker.claim(room=1)))
        rows = bench.ledger.hosts_waiting(worker.job)
        assert [(row.host, row.pending, row.in_progress) for row in rows] == [("marsh.test", 2, 0), ("pond.test", 1, 0)]
        assert [row.host for row in bench.ledger.hosts_waiting(worker.job, host="pond.test")] == ["pond.test"]

    def test_a_host_that_backs_off_says_until_when(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        worker.settle(retry(here, wait_ms=60_000, hold_host_ms=60_000))
        [row] = bench.ledger.hosts_waiting(worker.job)
        assert row.hold_until == bench.clock.wall_ms() + 60_000

    def test_pending_targets_are_counted_by_depth_and_by_pattern(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        [here] = worker.claim(room=1)
        found = tuple(bench.found(f"{MARSH}/{name}", depth=1) for name in ("toad", "tags/a?b", "tags/c/d"))
        worker.settle(succeed(here, found=found))
        assert bench.ledger.pending_by(worker.job, "depth") == [("0", 2), ("1", 3)]
        assert bench.ledger.pending_by(worker.job, "pattern") == [
            (f"{MARSH}/frog/*", 2), (f"{MARSH}/tags/*", 2), (f"{MARSH}/toad", 1),
        ]  # fmt: skip
        with pytest.raises(BadParams):
            bench.ledger.pending_by(worker.job, "colour")

    def test_what_is_in_hand_or_settled_is_not_pending(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        first, _ = worker.claim(room=2)
        worker.settle(succeed(first))
        assert bench.ledger.pending_by(worker.job, "depth") == [("0", 1)]
        assert len(bench.ledger.upcoming(worker.job)) == 1

    def test_the_next_targets_come_in_claim_order(self, bench: Bench) -> None:
        worker = bench.working(pages=4)
        [here] = worker.claim(room=1)
        worker.settle(retry(here, wait_ms=60_000))
        rows = bench.ledger.upcoming(worker.job)
        assert [row.url for row in rows] == [f"{MARSH}/frog/{n}" for n in (2, 3, 4, 1)]
        assert (rows[-1].not_before, rows[-1].because) == (bench.clock.wall_ms() + 60_000, "the host has trouble")
        assert [row.url for row in bench.ledger.upcoming(worker.job, limit=2)] == [row.url for row in rows[:2]]

    def test_a_suspect_comes_last_and_is_called_one(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim(room=2)
        bench.dead.add(worker.owner)
        bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        rows = bench.ledger.upcoming(worker.job)
        assert [row.is_suspect for row in rows] == [False, True, True]


class TestBreakdown:
    @pytest.mark.parametrize("by", ["host", "depth", "chunk", "code", "disposition"])
    def test_the_parts_sum_to_the_whole(self, bench: Bench, by: str) -> None:
        worker = with_every_status(bench)
        total: Counter[str] = Counter()
        for _, status, n in bench.ledger.breakdown(worker.job, by):
            total[status] += n
        counts = bench.counts(worker.job)
        assert {status: total[status] for status in COUNTED} == {status: counts[status] for status in COUNTED}

    def test_groups_are_called_by_what_they_have_in_common(self, bench: Bench) -> None:
        worker = with_every_status(bench)
        assert ("http_404", "failed", 1) in bench.ledger.breakdown(worker.job, "code")
        assert ("duplicate", "skipped", 1) in bench.ledger.breakdown(worker.job, "disposition")
        assert ("pond.test", "pending", 1) in bench.ledger.breakdown(worker.job, "host")
        assert ("1", "pending", 1) in bench.ledger.breakdown(worker.job, "depth")

    def test_an_unknown_breakdown_is_refused(self, bench: Bench) -> None:
        with pytest.raises(BadParams):
            bench.ledger.breakdown(bench.working(pages=1).job, "colour")


class TestLinksOut:
    def test_a_link_out_of_scope_says_where_it_was_found(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        outside = bench.external(f"{POND}/")
        worker.settle(succeed(here, external=(outside,)))
        assert bench.ledger.link_out(worker.job, outside.key) == here.id
        assert bench.ledger.link_out(worker.job, here.key) is None


class TestCutShort:
    def test_pages_with_more_links_than_are_followed_are_found_by_their_records(self, bench: Bench) -> None:
        worker = bench.working(pages=4)
        docs = [
            b'{"title":"\\"limit\\":9","links":1}',
            b'{"links":3,"limit":7}',
            b'{"links":3,"limit":8}',
            b'{"links":2}',
        ]
        hand = sorted(worker.claim(), key=lambda here: here.id)
        worker.settle(
            *(succeed(here, records=(Record("page", doc),)) for here, doc in zip(hand, docs, strict=True)),
        )
        assert bench.ledger.cut_short(worker.job) == [(hand[1].id, docs[1]), (hand[2].id, docs[2])]
        assert bench.ledger.cut_short(worker.job, limit=1) == [(hand[1].id, docs[1])]
        assert bench.ledger.cut_short(bench.submitted("pond").id) == []


class TestRobotsText:
    def test_what_is_kept_of_a_robots_txt_can_be_read(self, bench: Bench) -> None:
        assert bench.ledger.robots_text(MARSH) is None
        bench.ledger.robots(MARSH, PRODUCT, bench.working(pages=1).claim()[0])
        bench.ledger.keep_robots(MARSH, "marsh.test", PRODUCT, KeptRobots(status=200, body=b"Disallow: /frog"))
        assert bench.ledger.robots_text(MARSH) == b"Disallow: /frog"

    def test_one_that_could_not_be_read_says_nothing(self, bench: Bench) -> None:
        bench.ledger.robots(MARSH, PRODUCT, bench.working(pages=1).claim()[0])
        bench.ledger.keep_robots(MARSH, "marsh.test", PRODUCT, KeptRobots(status=UNREACHABLE, because="HTTP 503"))
        assert bench.ledger.robots_text(MARSH) is None


class TestOpenChunks:
    def test_chunks_with_targets_say_how_many_are_left(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        [(chunk, left)] = bench.ledger.open_chunks(worker.job)
        assert left == 3
        first, second = worker.claim(room=2)
        worker.settle(page(first), fail(second))
        assert bench.ledger.open_chunks(worker.job) == [(chunk, 1)]
        worker.settle(*map(page, worker.claim()))
        assert bench.ledger.open_chunks(worker.job) == [(chunk, 0)]


class TestChanges:
    def test_runs_come_oldest_first(self, bench: Bench) -> None:
        job = bench.started()
        for mode in ("full", "resume"):
            bench.ledger.open_run(job.id, mode=mode, trigger="cli")
        runs = bench.ledger.runs(job.id)
        assert [(run.n, run.mode, run.status) for run in runs] == [(1, "full", "failed"), (2, "resume", "in_progress")]

    def test_a_run_keeps_the_books_of_its_end(self, bench: Bench) -> None:
        """JOB-05, JOB-06: whatever becomes of its targets later."""
        worker = with_every_status(bench)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        [then] = bench.ledger.runs(worker.job)
        books = bench.ledger.books(worker.job)[1]
        assert (then.counts, then.health) == (None, None)
        bench.ledger.open_run(worker.job, mode="resume", trigger="cli")
        worker.settle(*map(page, worker.claim()))
        first, second = bench.ledger.runs(worker.job)
        assert (first.counts, second.counts) == (books, None)
        assert books.failed_by

    def test_the_run_that_ends_a_job_has_its_last_books_and_its_health(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        first, second = worker.claim()
        worker.settle(page(first), fail(second))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        [run] = bench.ledger.runs(worker.job)
        assert (run.counts, run.health) == (bench.ledger.books(worker.job)[1], job.health)
        assert run.counts is not None
        assert (run.counts.succeeded, run.counts.failed) == (1, 1)

    def test_a_run_that_ends_with_a_rescue_has_nothing_in_hand(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        worker.claim(room=2)
        bench.dead.add(worker.owner)
        bench.ledger.request(worker.job, "pause", actor="ann", because="lunch")
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        [run] = bench.ledger.runs(worker.job)
        assert run.counts == bench.ledger.books(worker.job)[1]
        assert run.counts is not None
        assert (run.counts.pending, run.counts.in_progress) == (3, 0)

    def test_what_a_later_run_brought_is_added(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        worker.settle(*map(page, worker.claim(room=1)))
        bench.ledger.open_run(worker.job, mode="resume", trigger="cli")
        [here] = worker.claim()
        worker.settle(page(here))
        first, second = bench.ledger.runs(worker.job)
        found, rest = bench.ledger.changes(worker.job, first, second)
        assert ([(change.kind, change.url) for change in found], rest) == ([("added", here.url)], None)
        assert found[0].after is not None

    def test_what_two_runs_differ_in_stays_so_whatever_later_runs_bring(self, bench: Bench) -> None:
        """Gone in the second run, gone, there, skipped or waiting in the third: in the second it was gone."""
        worker = bench.working(pages=5)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        worker.settle(*map(page, worker.claim()))
        scanned_so(bench, worker, dict.fromkeys(range(1, 5), fail))
        first, second = bench.ledger.runs(worker.job)
        told, _ = bench.ledger.changes(worker.job, first, second)
        assert [(change.kind, change.because) for change in told] == [("removed", "no such page")] * 4
        assert all(change.before is not None and change.after is None for change in told)
        scanned_so(bench, worker, {1: lambda here: fail(here, because="still not"), 2: page, 3: skip, 4: retry})
        first, second, third = bench.ledger.runs(worker.job)
        assert bench.ledger.changes(worker.job, first, second)[0] == told
        found, _ = bench.ledger.changes(worker.job, first, third)
        reasons = {change.url.rpartition("/")[2]: change.because for change in found}
        assert reasons == {"1": "still not", "3": "redirects to the pond"}

    def test_what_was_gone_in_the_earlier_run_already_is_not_removed_by_the_later(self, bench: Bench) -> None:
        """It is added where it came back; one that changed and went is removed, not changed."""
        worker = bench.working(pages=6)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        worker.settle(*map(page, worker.claim()))
        toads = {5: lambda here: page(here, b"<h1>Toads</h1>")}
        scanned_so(bench, worker, {**dict.fromkeys(range(1, 5), fail), **toads})
        scanned_so(bench, worker, {1: fail, 2: page, 3: skip, 4: retry, 5: fail})
        first, second, third = bench.ledger.runs(worker.job)
        assert told_of(bench, worker, second, third) == {"2": "added", "5": "removed"}
        assert told_of(bench, worker, first, third) == {"1": "removed", "3": "removed", "5": "removed"}
        bench.clock.advance(60)
        worker.settle(*map(page, worker.claim()))
        scanned_so(bench, worker, dict.fromkeys((1, 4, 5), fail))
        first, second, third, last = bench.ledger.runs(worker.job)
        assert told_of(bench, worker, second, third) == {"2": "added", "4": "added", "5": "removed"}
        assert told_of(bench, worker, third, last) == {"4": "removed"}

    def test_changes_come_slice_by_slice(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        bench.ledger.open_run(worker.job, mode="resume", trigger="cli")
        worker.settle(*map(page, worker.claim()))
        first, second = bench.ledger.runs(worker.job)
        found, place = bench.ledger.changes(worker.job, first, second, limit=2)
        assert place is not None
        more, end = bench.ledger.changes(worker.job, first, second, after=place, limit=2)
        assert (len(found), len(more), end) == (2, 1, None)


def told_of(bench: Bench, worker: Worker, earlier: RunLook, later: RunLook) -> dict[str, str]:
    """What differs, by the number of its page."""
    found, _ = bench.ledger.changes(worker.job, earlier, later)
    return {change.url.rpartition("/")[2]: change.kind for change in found}


def scanned_so(bench: Bench, worker: Worker, verdicts: dict[int, Callable[[Claimed], Verdict]]) -> None:
    """The job ended and scanned again as another run: pages by number; what is not named is unchanged."""
    job = worker.job
    bench.clock.advance(60)
    finished(bench, worker)
    bench.clock.advance(60)
    bench.ledger.reopen(job, "rescan", mode=NEW, actor="ann", because="news")
    walk_to_the_end(bench, job)
    bench.ledger.open_run(job, mode="resume", trigger="cli")
    worker.lease()
    hand = worker.claim()
    worker.settle(*(verdicts.get(int(here.url.rpartition("/")[2]), unchanged)(here) for here in hand))
    bench.clock.advance(60)


def with_every_status(bench: Bench) -> Worker:
    worker = bench.working(pages=5)
    first, second, third, _ = worker.claim(room=4)
    worker.settle(succeed(first, found=_ponds(bench, 0)), fail(second), skip(third))
    return worker


def _ponds(bench: Bench, depth: int) -> tuple[object, ...]:
    return (bench.found(f"{POND}/newt", depth=depth + 1),)
