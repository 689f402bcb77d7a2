"""Settling: what becomes of a target, and everything that commits with it (TGT-03, TGT-10, FRO-03, FRO-08)."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, hand_back, page, retry, skip, succeed, verdict
from holdfast import faults
from holdfast.errors import Corrupt, HoldfastError
from holdfast.model.outcome import Record

POND = "https://pond.test"


class TestSettle:
    def test_a_success_is_kept_with_its_disposition(self, bench: Bench) -> None:
        """TGT-03."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        bench.clock.advance(2)
        answer = worker.settle(succeed(here)).answers[here.chunk]
        row = bench.target(worker.job, here.url)
        assert (row.status, row.disposition, row.code, row.attempts) == ("succeeded", "page", None, 1)
        assert row.settled_at == bench.clock.wall_ms()
        assert (answer.kind, answer.no, answer.requested) == ("settled", worker.leases[here.chunk].no, None)

    def test_a_skip_is_kept_with_its_disposition_and_rule(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(skip(here, disposition="excluded", rule="depth"))
        row = bench.target(worker.job, here.url)
        assert (row.status, row.disposition, row.rule) == ("skipped", "excluded", "depth")
        assert bench.ledger.books(worker.job)[1].skipped_by == {"excluded": 1}

    def test_a_failure_is_kept_with_its_code(self, bench: Bench) -> None:
        """FRO-05: failed, not done."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(fail(here, code="http_403"))
        row = bench.target(worker.job, here.url)
        assert (row.status, row.code, row.disposition) == ("failed", "http_403", None)
        assert bench.ledger.books(worker.job)[1].failed_by == {"http_403": 1}

    def test_a_retry_waits_until_its_time(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(retry(here, wait_ms=5000))
        row = bench.target(worker.job, here.url)
        assert (row.status, row.because) == ("pending", "the host has trouble")
        assert row.not_before == bench.clock.wall_ms() + 5000
        bench.clock.advance(4.999)
        assert worker.claim() == []
        bench.clock.advance(0.001)
        assert [again.attempts for again in worker.claim()] == [2]
        assert bench.target(worker.job, here.url).not_before is None

    def test_a_retry_without_a_time_is_ready_at_once(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(retry(here))
        assert [again.attempts for again in worker.claim()] == [2]

    def test_handing_back_refunds_the_attempt(self, bench: Bench) -> None:
        """E10, L4."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(hand_back(here))
        assert bench.target(worker.job, here.url).attempts == 0
        assert [again.attempts for again in worker.claim()] == [1]

    def test_what_is_handed_back_with_a_time_waits_for_it_and_keeps_its_attempt(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here, other] = worker.claim()
        worker.settle(hand_back(here, wait_ms=5_000, because="waits for a turn at pond.test"), hand_back(other))
        seen = bench.target(worker.job, here.url)
        assert (seen.status, seen.attempts, seen.because) == ("pending", 0, "waits for a turn at pond.test")
        assert seen.not_before == bench.clock.wall_ms() + 5_000
        assert [again.url for again in worker.claim()] == [other.url]
        bench.clock.advance(5)
        assert [(again.url, again.attempts) for again in worker.claim()] == [(here.url, 1)]

    def test_every_verdict_leaves_an_attempt(self, bench: Bench) -> None:
        """TGT-02, L4."""
        worker = bench.working(pages=1)
        for ending in (retry, hand_back, retry, succeed):
            [here] = worker.claim()
            worker.settle(ending(here))
        [target] = bench.targets(worker.job)
        attempts = bench.ledger.history(worker.job, target=target.id)[1]
        assert [(row.n, row.outcome) for row in attempts] == [
            (1, "retry"),
            (2, "handed_back"),
            (2, "retry"),
            (3, "succeeded"),
        ]
        assert {row.worker for row in attempts} == {str(worker.owner)}
        assert (attempts[0].code, attempts[0].message) == ("http_5xx", "the host has trouble")
        assert (attempts[-1].status_code, attempts[-1].ended_at - attempts[-1].began_at) == (200, 250)

    @pytest.mark.parametrize("move", ["rescue", "poison", "claim", "cancel", "frobnicate"])
    def test_only_a_verdict_settles(self, bench: Bench, move: str) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        with pytest.raises(HoldfastError):
            worker.settle(verdict(here, move))
        assert bench.counts(worker.job)["in_progress"] == 1

    def test_a_target_that_is_not_held_stops_the_whole_call(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first))
        no = worker.leases[first.chunk].no
        with pytest.raises(Corrupt):
            worker.send([worker.batch(first.chunk, succeed(second), fail(first))])
        assert bench.target(worker.job, first.url).status == "succeeded"
        assert bench.target(worker.job, second.url).status == "in_progress"
        worker.renew()
        assert worker.leases[first.chunk].no == no

    def test_a_target_of_another_chunk_stops_the_whole_call(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/a", index=0), bench.found(f"{MARSH}/b", index=1))
        here, there = sorted(worker.claim(), key=lambda each: each.url)
        with pytest.raises(Corrupt):
            worker.send([worker.batch(here.chunk, succeed(here), succeed(there))])
        assert bench.counts(worker.job)["in_progress"] == 2

    def test_a_settle_that_fails_before_its_commit_never_was(self, bench: Bench) -> None:
        """CHK-05: page, links, record, attempt and checkpoint together or not at all."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        before = bench.probe.entries(worker.job)
        faults.arm("settle.before_commit:1:raise")
        with pytest.raises(faults.InjectedFault):
            worker.settle(page(here, found=(bench.found(f"{MARSH}/new"),)), checkpoint="targets")
        assert bench.probe.entries(worker.job) == before
        counts = bench.counts(worker.job)
        assert (counts["discovered"], counts["in_progress"]) == (1, 1)
        assert bench.ledger.history(worker.job, target=here.id)[1] == []
        assert bench.ledger.books(worker.job)[2] is None

    def test_a_settle_spans_chunks_and_answers_for_each(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*(bench.found(f"{MARSH}/{n}", index=n) for n in range(4)))
        settled = worker.settle(*map(succeed, worker.claim()))
        assert [answer.kind for answer in settled.answers.values()] == ["settled"] * 4
        assert bench.counts(worker.job)["succeeded"] == 4

    def test_an_empty_call_answers_nothing(self, bench: Bench) -> None:
        worker = bench.working()
        settled = worker.send([])
        assert (settled.answers, settled.claimed, settled.checkpoint) == ({}, (), None)


class TestFound:
    def test_a_link_commits_with_the_page_that_found_it(self, bench: Bench) -> None:
        """FRO-01, FRO-03, FRO-04."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        bench.clock.advance(1)
        worker.settle(succeed(here, found=(bench.found(f"{MARSH}/toad", depth=1),)))
        row = bench.target(worker.job, f"{MARSH}/toad")
        assert (row.status, row.depth, row.parent, row.attempts) == ("pending", 1, here.id, 0)
        assert (row.found_at, row.settled_at, row.generation) == (bench.clock.wall_ms(), None, 1)

    def test_the_first_finder_of_a_key_wins(self, bench: Bench) -> None:
        """FRO-02, L2."""
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first, found=(bench.found(f"{MARSH}/toad", depth=1),)))
        worker.settle(succeed(second, found=(bench.found(f"{MARSH}/toad", depth=7),)))
        row = bench.target(worker.job, f"{MARSH}/toad")
        assert (row.parent, row.depth) == (first.id, 1)
        assert bench.counts(worker.job)["discovered"] == 3

    def test_within_one_batch_the_first_verdict_wins(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        toads = [bench.found(f"{MARSH}/toad", depth=depth) for depth in (1, 2)]
        worker.settle(succeed(second, found=(toads[0],)), succeed(first, found=(toads[1],)))
        assert bench.target(worker.job, f"{MARSH}/toad").parent == second.id

    def test_a_page_that_links_twice_to_one_key_finds_it_once(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        toad = bench.found(f"{MARSH}/toad", depth=1)
        worker.settle(succeed(here, found=(toad, toad)))
        assert bench.counts(worker.job)["discovered"] == 2

    def test_a_page_that_links_to_itself_finds_nothing(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(succeed(here, found=(bench.found(here.url, depth=1),)))
        assert bench.target(worker.job, here.url).status == "succeeded"

    def test_two_jobs_may_find_the_same_key(self, bench: Bench) -> None:
        workers = [bench.working(pages=1, name=name) for name in ("marsh", "pond")]
        assert [bench.counts(worker.job)["discovered"] for worker in workers] == [1, 1]

    def test_a_found_target_lands_in_the_chunk_that_it_names(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(succeed(here, found=(bench.found(f"{MARSH}/toad", index=11),)))
        [lease] = [item for item in worker.work if item.index == 11]
        assert bench.target(worker.job, f"{MARSH}/toad").chunk == lease.chunk

    def test_a_found_target_with_a_disposition_is_skipped_at_once(self, bench: Bench) -> None:
        """FRO-08, TGT-07: without an attempt."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(succeed(here, found=(bench.found(f"{MARSH}/deep", disposition="excluded", rule="depth"),)))
        row = bench.target(worker.job, f"{MARSH}/deep")
        assert (row.status, row.disposition, row.rule, row.attempts) == ("skipped", "excluded", "depth", 0)
        assert row.settled_at == bench.clock.wall_ms()
        assert worker.claim() == []

    def test_a_skip_and_a_failure_may_find_too(self, bench: Bench) -> None:
        """FRO-09: a redirect is a skip that enqueues its goal."""
        worker = bench.working(pages=2)
        first, second = worker.claim()
        moved, beside = bench.found(f"{MARSH}/moved", hops=1), bench.found(f"{MARSH}/beside")
        worker.settle(skip(first, found=(moved,)), fail(second, found=(beside,)))
        assert sorted(here.hops for here in worker.claim()) == [0, 1]


class TestResults:
    def test_a_page_has_its_body_and_record(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        [here] = worker.claim()
        worker.settle(page(here))
        [row] = bench.ledger.pages(worker.job)
        assert (row.target, row.url, row.parent_url, row.run) == (here.id, here.url, None, 1)
        assert (row.segment, row.offset, row.length, row.media) == ("marsh-1.warc.gz", 128, 64, "text/html")
        assert row.record == b'{"title":"Frogs"}'
        assert bench.target(worker.job, here.url).sha256 == row.sha256

    def test_records_are_numbered_within_their_target_and_generation(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(succeed(here, records=(Record("page", b"{}"), Record("entity", b"{}"))))
        assert bench.probe.records(here.id) == [(1, 0, "page"), (1, 1, "entity")]

    def test_an_external_link_is_one_record_and_no_target(self, bench: Bench) -> None:
        """FRO-08, SIT-05."""
        worker = bench.working(pages=2)
        first, second = worker.claim()
        outside = bench.external("https://elsewhere.test/")
        worker.settle(succeed(first, external=(outside, outside)))
        worker.settle(succeed(second, external=(outside,)))
        assert bench.probe.externals(worker.job) == ["https://elsewhere.test/"]
        assert bench.counts(worker.job)["discovered"] == 2

    def test_two_jobs_may_have_the_same_external_link(self, bench: Bench) -> None:
        for name in ("marsh", "pond"):
            worker = bench.working(pages=1, name=name)
            worker.settle(*(succeed(here, external=(bench.external(POND),)) for here in worker.claim()))
            assert bench.probe.externals(worker.job) == [f"{POND}/"]
