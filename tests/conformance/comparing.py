"""A scan for what is new or changed: what a claim hands along of the last good result, and what unchanged pages are."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from conformance.bench import Bench
from conformance.reopening import finished, walk_to_the_end
from conformance.verdicts import fail, page, retry, skip, unchanged
from conformance.worker import Worker
from holdfast.model.edit import NEW
from holdfast.model.outcome import BEYOND_CAP, Record, Verdict
from holdfast.model.target import Claimed

RECORD = b'{"title":"Frogs"}'  # of the suite's pages
HOUR_S = 3600


def completed(bench: Bench, judge: Callable[[Claimed], Verdict] = page, pages: int = 2) -> int:
    worker = bench.working(pages)
    worker.settle(*(judge(here) for here in worker.claim()), checkpoint="targets")
    finished(bench, worker)
    return worker.job


def scanning(bench: Bench, job: int, mode: str = NEW) -> tuple[Worker, list[Claimed]]:
    """The job opened again, and everything of it in the hands of a worker that compares."""
    bench.clock.advance(HOUR_S)  # a host that failed has had its rest
    verb = "rescan" if bench.job(job).status == "completed" else "retry"
    bench.ledger.reopen(job, verb, mode=mode, actor="ann", because="news")
    walk_to_the_end(bench, job)
    worker = bench.worker(job)
    worker.lease()
    return worker, worker.take(worker.wish(compared=True))


def scanned(bench: Bench, job: int, judge: Callable[[Claimed], Verdict], mode: str = NEW) -> None:
    worker, hand = scanning(bench, job, mode)
    worker.settle(*(judge(here) for here in hand), checkpoint="targets")
    finished(bench, worker)


class TestBefore:
    def test_a_claim_hands_the_record_of_the_last_good_result_along(self, bench: Bench) -> None:
        job = completed(bench)
        worker, hand = scanning(bench, job)
        assert [here.before for here in hand] == [RECORD] * 2
        first, second = hand
        worker.settle(retry(first), fail(second, code="http_5xx", status_code=500))
        assert [here.before for here in worker.take(worker.wish(compared=True))] == [RECORD]

    def test_what_is_adopted_after_an_unknown_answer_has_it_too(self, bench: Bench) -> None:
        worker, hand = scanning(bench, completed(bench))
        assert sorted(worker.adopt(), key=lambda here: here.id) == sorted(hand, key=lambda here: here.id)

    def test_nothing_is_handed_along_unless_the_job_is_scanned_so(self, bench: Bench) -> None:
        """Whatever whoever claims believes: a worker may have begun before the job was opened again."""
        job = completed(bench)
        assert bench.ledger.mode(job) == "full"
        _, hand = scanning(bench, job, mode="full")
        assert [here.before for here in hand] == [b""] * 2

    def test_nothing_is_handed_along_unless_it_is_wished(self, bench: Bench) -> None:
        job = completed(bench)
        worker, hand = scanning(bench, job)
        worker.settle(*(retry(here) for here in hand))
        assert [here.before for here in worker.claim()] == [b""] * 2

    def test_what_is_found_meanwhile_has_nothing_before_it(self, bench: Bench) -> None:
        job = completed(bench)
        worker, [first, second] = scanning(bench, job)
        worker.settle(page(first, found=(bench.found("https://marsh.test/toad"),)), unchanged(second))
        [new] = worker.take(worker.wish(compared=True))
        assert (new.url, new.before) == ("https://marsh.test/toad", b"")

    @pytest.mark.parametrize("judge", [fail, skip])
    def test_what_never_gave_a_result_is_asked_for_plainly(
        self, bench: Bench, judge: Callable[[Claimed], Verdict]
    ) -> None:
        job = completed(bench, judge)
        _, hand = scanning(bench, job)
        assert [here.before for here in hand] == [b""] * 2

    def test_what_could_not_be_had_meanwhile_is_compared_with_its_last_good_result(self, bench: Bench) -> None:
        job = completed(bench)
        scanned(bench, job, lambda here: fail(here, code="http_5xx", status_code=500))
        _, hand = scanning(bench, job)
        assert [here.before for here in hand] == [RECORD] * 2

    def test_what_was_gone_meanwhile_is_asked_for_plainly(self, bench: Bench) -> None:
        job = completed(bench)
        scanned(bench, job, fail)
        _, hand = scanning(bench, job)
        assert [here.before for here in hand] == [b""] * 2

    @pytest.mark.parametrize("judge", [page, unchanged])
    def test_what_lost_its_bytes_is_asked_for_plainly(self, bench: Bench, judge: Callable[[Claimed], Verdict]) -> None:
        """Another `unchanged` would keep it without them for ever."""
        job = completed(bench)
        scanned(bench, job, judge)
        lost = bench.targets(job)[0].id
        assert bench.ledger.repair(job, [lost], actor="doctor", because="its stored bytes are gone") == 1
        assert [row.target for row in bench.ledger.pages(job)] == [row.id for row in bench.targets(job)[1:]]
        worker = bench.worker(job)
        worker.lease()
        [here] = worker.take(worker.wish(compared=True))
        assert (here.id, here.before) == (lost, b"")


class TestUnchanged:
    def test_the_earlier_result_stands(self, bench: Bench) -> None:
        job = completed(bench)
        pages, results, rows = bench.ledger.pages(job), bench.ledger.results(job), bench.targets(job)
        scanned(bench, job, unchanged)
        assert (bench.ledger.pages(job), bench.ledger.results(job)) == (pages, results)
        after = bench.targets(job)
        assert [(row.status, row.disposition, row.generation) for row in after] == [("succeeded", "unchanged", 2)] * 2
        assert [(row.sha256, row.size) for row in after] == [(row.sha256, row.size) for row in rows]
        assert bench.probe.records(after[0].id) == [(1, 0, "page")]
        assert bench.ledger.breakdown(job, "disposition") == [("unchanged", "succeeded", 2)]
        bench.verify(job)

    def test_it_is_compared_with_its_result_again_and_served_whatever_fails(self, bench: Bench) -> None:
        job = completed(bench)
        pages = bench.ledger.pages(job)
        scanned(bench, job, unchanged)
        worker, hand = scanning(bench, job)
        assert [here.before for here in hand] == [RECORD] * 2
        assert bench.ledger.pages(job) == pages
        worker.settle(*(fail(here, code="http_5xx", status_code=500) for here in hand))
        assert bench.ledger.pages(job) == pages
        bench.verify(job)

    def test_one_that_is_gone_then_is_not_served(self, bench: Bench) -> None:
        job = completed(bench)
        scanned(bench, job, unchanged)
        scanned(bench, job, fail)
        assert bench.ledger.pages(job) == []
        bench.verify(job)

    def test_a_changed_page_replaces_its_result_and_only_that_differs(self, bench: Bench) -> None:
        job = completed(bench)
        bench.ledger.open_run(job, mode="full", trigger="cli")
        bench.ledger.reopen(job, "rescan", mode=NEW, actor="ann", because="news")
        walk_to_the_end(bench, job)
        bench.ledger.open_run(job, mode="resume", trigger="cli")
        worker = bench.worker(job)
        worker.lease()
        first, second = worker.take(worker.wish(compared=True))
        worker.settle(page(first, b"<h1>Toads</h1>"), unchanged(second))
        runs = bench.ledger.runs(job)
        assert [run.mode for run in runs] == ["full", NEW]
        [change], _ = bench.ledger.changes(job, runs[0], runs[1], after=0, limit=10)
        assert (change.kind, change.target) == ("changed", first.id)
        assert {row.target: row.run for row in bench.ledger.pages(job)} == {first.id: 2, second.id: 0}

    def test_a_rollback_puts_it_back_as_it_was_fetched(self, bench: Bench) -> None:
        job = completed(bench)
        number = bench.ledger.checkpoints(job)[0].number
        before, pages = bench.targets(job), bench.ledger.pages(job)
        scanned(bench, job, unchanged)
        bench.ledger.rollback(job, number, actor="ann", is_dead=bench.is_dead)
        assert (bench.targets(job), bench.ledger.pages(job)) == (before, pages)
        assert bench.ledger.mode(job) == "full"
        bench.verify(job)

    def test_a_page_with_more_links_than_are_followed_still_is_one(self, bench: Bench) -> None:
        doc = b"{" + BEYOND_CAP + b"3}"

        def long(here: Claimed) -> Verdict:
            return msgspec.structs.replace(page(here), records=(Record("page", doc),))

        job = completed(bench, long, pages=1)
        cut = bench.ledger.cut_short(job)
        assert [record for _, record in cut] == [doc]
        scanned(bench, job, unchanged)
        assert bench.ledger.cut_short(job) == cut
