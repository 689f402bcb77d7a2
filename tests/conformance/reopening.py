"""Opening a job again: retry, rescan, restart, and the walks that put targets back (JOB-03, TGT-04, TGT-07)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, page, retry, skip
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import BadParams, IllegalMove, LedgerUnavailable, Refused
from holdfast.model.edit import REOPENING
from holdfast.model.job import Job
from holdfast.model.outcome import Verdict
from holdfast.model.states import JOB, allowed
from holdfast.model.target import Claimed
from holdfast.policy.filters import parse


def reopen(bench: Bench, job: int, verb: str = "retry", where: str = "") -> Job:
    return bench.ledger.reopen(job, verb, where=parse(where), actor="ann", because=f"{verb}, please")


def walk_to_the_end(bench: Bench, job: int, limit: int = 1000) -> int:
    """How many targets all standing walks put back."""
    requeued, left = 0, True
    while left:
        done = bench.ledger.walk(job, limit=limit)
        requeued, left = requeued + done.requeued, done.left
    return requeued


def finished(bench: Bench, worker: Worker) -> Job:
    ended = bench.ledger.advance(worker.job, worker.control)
    assert ended is not None
    worker.release()
    return ended


def completed(bench: Bench, pages: int = 6) -> int:
    """Of six pages: 1 and 2 succeeded, 3 skipped after a fetch, the others failed; and a link too deep was left out."""
    worker = bench.working(pages)
    made = {1: page, 2: page, 3: skip}
    deep = bench.found(f"{MARSH}/deep", depth=9, disposition="excluded", rule="depth")
    claimed = sorted(worker.claim(), key=lambda here: here.id)
    verdicts = [made.get(_number(here), fail)(here) for here in claimed]
    first = next(place for place, here in enumerate(claimed) if _number(here) == 1)
    verdicts[first] = page(claimed[first], found=(deep,))
    worker.settle(*verdicts, checkpoint="targets")
    assert finished(bench, worker).status == "completed"
    return worker.job


def _number(here: Claimed) -> int:
    return int(here.url.rpartition("/")[2])


def urls(bench: Bench, job: int, status: str) -> list[int]:
    rows = [row for row in bench.targets(job) if row.status == status and "/frog/" in row.url]
    return sorted(int(row.url.rpartition("/")[2]) for row in rows)


class TestRetry:
    def test_failed_targets_go_back_to_pending_as_a_new_generation(self, bench: Bench) -> None:
        """TGT-07: attempts are reset by an operator, which is an event; the earlier attempts stay."""
        job = completed(bench)
        after = reopen(bench, job)
        assert (after.status, after.health, after.finished_at) == ("in_progress", None, None)
        assert bench.events(job)[-1] == ("retry", "completed", "in_progress")
        assert walk_to_the_end(bench, job) == 3
        assert urls(bench, job, "pending") == [4, 5, 6]
        row = bench.target(job, f"{MARSH}/frog/4")
        assert (row.attempts, row.generation, row.code, row.settled_at) == (0, 2, None, None)
        assert bench.probe.undone(row.id) == [("retry", "failed", 1)]
        assert len(bench.ledger.history(job, target=row.id)[1]) == 1
        bench.verify(job)

    def test_a_retried_job_is_worked_to_its_end_and_stays_sound(self, bench: Bench) -> None:
        job = completed(bench)
        reopen(bench, job)
        walk_to_the_end(bench, job)
        worker = bench.worker(job)
        worker.lease()
        hand = worker.claim()
        assert [(here.attempts, here.generation) for here in hand] == [(1, 2)] * 3
        worker.settle(*(page(here) for here in hand), checkpoint="targets")
        ended = finished(bench, worker)
        assert (ended.status, ended.health) == ("completed", "ok")
        assert bench.counts(job)["succeeded"] == 5
        bench.verify(job)

    @pytest.mark.parametrize(
        ("where", "wanted"),
        [
            ("", [4, 5, 6]),
            ("status:failed", [4, 5, 6]),
            ("url:*/frog/5", [5]),
            ("-url:*/frog/5", [4, 6]),
            ("code:http_404 attempts:1", [4, 5, 6]),
            ("code:http_5xx", []),
            ("status:succeeded", []),
            ("settled:<2h", [4, 5, 6]),
            ("settled:>2h", []),
        ],
    )
    def test_a_retry_takes_exactly_what_the_list_shows_among_the_failed(
        self, bench: Bench, where: str, wanted: list[int]
    ) -> None:
        """C10."""
        job = completed(bench)
        bench.clock.advance(3600)
        listed = bench.ledger.targets(job, where=[*parse(where), ("status", True, ("failed",))])
        assert sorted(int(row.url.rpartition("/")[2]) for row in listed) == wanted
        reopen(bench, job, where=where)
        bench.clock.advance(3 * 3600)  # what was meant when it was asked for
        assert walk_to_the_end(bench, job) == len(wanted)
        assert urls(bench, job, "pending") == wanted
        bench.verify(job)

    def test_a_rule_may_name_any_number_of_targets(self, bench: Bench) -> None:
        """CAS-08: more than a statement takes as parameters, or as terms of an OR."""
        job = completed(bench)
        named = [row.id for row in bench.ledger.targets(job, where=parse("url:*/frog/5"))]
        ids = tuple(f"T-{target:x}" for target in (*named, *range(10**9, 10**9 + 270_000)))
        bench.ledger.reopen(job, "retry", where=(("id", True, ids),), actor="ann", because="retry, please")
        assert walk_to_the_end(bench, job) == 1
        assert urls(bench, job, "pending") == [5]
        assert len(bench.ledger.targets(job, where=(("id", True, ids[:2_000]),))) == 1
        bench.verify(job)

    def test_a_paused_job_stays_paused(self, bench: Bench) -> None:
        """JOB-03: resume goes on with what was put back, too."""
        job = stopped(bench)
        before = bench.job(job)
        after = reopen(bench, job)
        assert (after.status, after.version, after.paused_by) == ("paused", before.version + 1, before.paused_by)
        assert walk_to_the_end(bench, job) == 1
        assert bench.counts(job)["failed"] == 0
        bench.ledger.move(job, "resume", actor="ann", because="go on")
        worker = bench.worker(job)
        worker.lease()
        worker.settle(*(page(here) for here in worker.claim()))
        assert finished(bench, worker).status == "completed"
        bench.verify(job)

    def test_the_job_is_not_finished_while_a_walk_stands(self, bench: Bench) -> None:
        """L10: what the walk has not put back yet is work, too."""
        job = completed(bench)
        reopen(bench, job)
        worker = bench.worker(job)
        worker.lease()
        assert worker.claim() == []
        assert bench.ledger.advance(job, worker.control) is None
        assert bench.ledger.walking(job) == "retry"
        walk_to_the_end(bench, job)
        worker.settle(*(fail(here) for here in worker.claim()))
        assert finished(bench, worker).status == "completed"

    def test_what_fails_again_while_the_walk_goes_on_is_not_put_back_twice(self, bench: Bench) -> None:
        job = completed(bench)
        reopen(bench, job)
        assert bench.ledger.walk(job, limit=2).left
        worker = bench.worker(job)
        worker.lease()
        again = worker.claim()
        worker.settle(*(fail(here) for here in again))
        assert len(again) + walk_to_the_end(bench, job, limit=2) == 3
        assert {row.generation for row in bench.targets(job) if row.url in {here.url for here in again}} == {2}
        bench.verify(job)

    def test_slices_whose_answers_were_lost_end_like_one_walk(self, bench: Bench) -> None:
        job = completed(bench)
        faults.arm("reopen.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            reopen(bench, job)
        while bench.ledger.walking(job) is not None:
            faults.arm("walk.after_commit:1:unknown")
            with pytest.raises(LedgerUnavailable):
                bench.ledger.walk(job, limit=1)
        assert urls(bench, job, "pending") == [4, 5, 6]
        assert {row.generation for row in bench.targets(job) if row.status == "pending"} == {2}
        bench.verify(job)

    def test_a_cancelled_job_gets_nothing_back(self, bench: Bench) -> None:
        job = completed(bench)
        reopen(bench, job)
        bench.ledger.request(job, "cancel", actor="ann", because="enough")
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        assert walk_to_the_end(bench, job) == 0
        assert bench.ledger.walking(job) is None
        assert bench.counts(job)["failed"] == 3


class TestRescan:
    def test_everything_that_was_fetched_is_fetched_again_and_nothing_else(self, bench: Bench) -> None:
        """TGT-04: the same rows, generation + 1; what was left out when it was found stays left out."""
        job = completed(bench)
        ids = {row.url: row.id for row in bench.targets(job)}
        after = reopen(bench, job, "rescan")
        assert (after.status, after.generation) == ("in_progress", 2)
        assert walk_to_the_end(bench, job, limit=2) == 6
        assert urls(bench, job, "pending") == [1, 2, 3, 4, 5, 6]
        assert {row.url: row.id for row in bench.targets(job)} == ids
        assert bench.target(job, f"{MARSH}/deep").status == "skipped"
        first = bench.target(job, f"{MARSH}/frog/1")
        assert bench.probe.undone(first.id) == [("rescan", "succeeded", 1)]
        bench.verify(job)

    def test_earlier_results_are_kept_by_generation(self, bench: Bench) -> None:
        job = completed(bench)
        reopen(bench, job, "rescan")
        walk_to_the_end(bench, job)
        worker = bench.worker(job)
        worker.lease()
        worker.settle(*(page(here, b"<h1>Toads</h1>") for here in worker.claim()), checkpoint="targets")
        assert finished(bench, worker).status == "completed"
        first = bench.target(job, f"{MARSH}/frog/1")
        assert bench.probe.records(first.id) == [(1, 0, "page"), (2, 0, "page")]
        assert len(bench.ledger.history(job, target=first.id)[1]) == 2
        assert bench.counts(job)["succeeded"] == 6
        bench.verify(job)

    def test_the_results_of_before_are_served_until_a_page_is_settled_anew(self, bench: Bench) -> None:
        job = completed(bench)
        before = [each.url for each in bench.ledger.pages(job)]
        reopen(bench, job, "rescan")
        walk_to_the_end(bench, job)
        assert [each.url for each in bench.ledger.pages(job)] == before
        worker = bench.worker(job)
        worker.lease()
        first = next(here for here in worker.claim() if here.url.endswith("/1"))
        worker.settle(fail(first))
        assert [each.url for each in bench.ledger.pages(job)] == [url for url in before if url != first.url]

    @pytest.mark.parametrize("status", [500, 403, None])
    def test_a_page_that_cannot_be_had_this_time_is_served_as_it_last_was(
        self, bench: Bench, status: int | None
    ) -> None:
        """A site in trouble takes nothing out of an export; the next good answer replaces what was kept."""
        job = completed(bench)
        before = [(each.target, each.sha256) for each in bench.ledger.pages(job)]
        scanned(bench, job, lambda here: fail(here, code="http_5xx", status_code=status))
        assert [(each.target, each.sha256) for each in bench.ledger.pages(job)] == before
        assert [(each.target, each.sha256) for each in bench.ledger.results(job)] == before
        scanned(bench, job, lambda here: page(here, b"<h1>Toads</h1>") if _number(here) < 3 else fail(here))
        after = [(each.target, each.sha256) for each in bench.ledger.pages(job)]
        assert [target for target, _ in after] == [target for target, _ in before]
        assert not {digest for _, digest in after} & {digest for _, digest in before}
        bench.verify(job)

    @pytest.mark.parametrize("status", [404, 410])
    def test_a_page_that_is_gone_is_not_served_and_does_not_come_back_with_trouble(
        self, bench: Bench, status: int
    ) -> None:
        job = completed(bench)
        scanned(bench, job, lambda here: fail(here, code="http_4xx", status_code=status))
        assert (bench.ledger.pages(job), bench.ledger.results(job)) == ([], [])
        again(bench, job)
        assert bench.ledger.pages(job) == []
        worker = bench.worker(job)
        worker.lease()
        worker.settle(*(fail(here, code="http_5xx", status_code=500) for here in worker.claim()))
        assert (bench.ledger.pages(job), bench.ledger.results(job)) == ([], [])

    def test_a_page_that_is_skipped_this_time_is_not_served(self, bench: Bench) -> None:
        job = completed(bench)
        scanned(bench, job, skip)
        assert bench.ledger.results(job) == []

    def test_what_a_robots_txt_forbade_is_asked_again_by_a_rescan(self, bench: Bench) -> None:
        """It may say something else today, or be ignored."""
        forbidden = f"{MARSH}/private"
        worker = bench.working(1)
        [here] = worker.claim()
        worker.settle(page(here, found=(bench.found(forbidden, disposition="robots", rule="Disallow: /private"),)))
        assert finished(bench, worker).status == "completed"
        again(bench, worker.job)
        assert bench.target(worker.job, forbidden).status == "pending"
        bench.verify(worker.job)

    def test_what_a_cancelled_rescan_did_not_come_to_is_served_as_it_was(self, bench: Bench) -> None:
        job = completed(bench)
        before = [each.target for each in bench.ledger.pages(job)]
        reopen(bench, job, "rescan")
        walk_to_the_end(bench, job)
        bench.ledger.request(job, "cancel", actor="ann", because="enough")
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        while bench.ledger.cancel_rest(job):
            pass
        assert [each.target for each in bench.ledger.pages(job)] == before

    def test_what_is_found_and_settled_during_the_walk_is_not_put_back(self, bench: Bench) -> None:
        job = completed(bench)
        reopen(bench, job, "rescan")
        bench.ledger.walk(job, limit=2)
        worker = bench.worker(job)
        worker.lease()
        here, *_ = worker.claim()
        worker.settle(page(here, found=(bench.found(f"{MARSH}/new"),)))
        new = next(each for each in worker.claim() if each.url.endswith("/new"))
        worker.settle(page(new))
        walk_to_the_end(bench, job, limit=2)
        assert bench.target(job, f"{MARSH}/new").generation == 1
        assert bench.target(job, here.url).generation == 2
        bench.verify(job)

    def test_the_first_run_after_it_has_the_mode_that_was_asked_for(self, bench: Bench) -> None:
        job = completed(bench)
        bench.ledger.reopen(job, "rescan", mode="new", actor="ann", because="news")
        bench.ledger.open_run(job, mode="resume", trigger="cli")
        bench.ledger.open_run(job, mode="resume", trigger="cli")
        assert bench.probe.modes(job)[-2:] == ["new", "resume"]

    def test_a_mode_that_does_not_exist_is_refused(self, bench: Bench) -> None:
        job = completed(bench)
        with pytest.raises(BadParams):
            bench.ledger.reopen(job, "rescan", mode="some", actor="ann", because="?")


def scanned(bench: Bench, job: int, judge: Callable[[Claimed], Verdict]) -> None:
    """Every page once more, each ending like this."""
    again(bench, job)
    worker = bench.worker(job)
    worker.lease()
    worker.settle(*(judge(here) for here in worker.claim()), checkpoint="targets")
    finished(bench, worker)


def again(bench: Bench, job: int) -> None:
    """A job of which every page failed is failed: a retry takes the same pages as a rescan would."""
    bench.clock.advance(3600)  # a host that failed has had its rest
    reopen(bench, job, "rescan" if bench.job(job).status == "completed" else "retry")
    walk_to_the_end(bench, job)


class TestAsOf:
    def test_lists_as_of_a_checkpoint_stay_what_they_were(self, bench: Bench) -> None:
        """PER: what a retry, a rescan or an exclusion overwrites is kept, so the past does not change."""
        job = completed(bench)
        point = bench.ledger.checkpoints(job)[0].point
        assert point is not None
        before = {settled: bench.ledger.as_of(job, point.commits, settled=settled) for settled in (True, False)}
        assert {row.status for row in before[True]} == {"succeeded", "failed", "skipped"}
        for verb in ("retry", "rescan"):
            reopen(bench, job, verb)
            walk_to_the_end(bench, job)
            worker = bench.worker(job)
            worker.lease()
            worker.settle(*(page(here) for here in worker.claim()), checkpoint="targets")
            finished(bench, worker)
        after = {settled: bench.ledger.as_of(job, point.commits, settled=settled) for settled in (True, False)}
        assert after == before
        bench.verify(job)


class TestRestart:
    def test_a_paused_job_goes_back_to_pending_and_runs_again_as_a_new_generation(self, bench: Bench) -> None:
        """JOB-03, TGT-04."""
        job = stopped(bench)
        after = reopen(bench, job, "restart")
        assert (after.status, after.generation, after.paused_by) == ("pending", 2, None)
        bench.ledger.move(job, "start", actor="ann", because="go")
        assert walk_to_the_end(bench, job) == 2
        assert bench.counts(job)["pending"] == 3
        worker = bench.worker(job)
        worker.lease()
        hand = worker.claim()
        assert sorted(here.generation for here in hand) == [1, 2, 2]
        worker.settle(*(page(here) for here in hand))
        assert finished(bench, worker).status == "completed"
        bench.verify(job)

    def test_what_was_pending_after_a_try_begins_with_every_attempt(self, bench: Bench) -> None:
        """From the beginning; what nobody tried stays as it is."""
        worker = bench.working(3)
        first, second, *_ = worker.claim(2)
        worker.settle(retry(first, wait_ms=60_000), retry(second))
        worker.release()
        job = worker.job
        bench.ledger.request(job, "pause", actor="ann", because="enough for today")
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        reopen(bench, job, "restart")
        assert walk_to_the_end(bench, job, limit=2) == 0
        rows = {row.id: row for row in bench.targets(job)}
        tried = [
            (rows[each.id].attempts, rows[each.id].generation, rows[each.id].not_before) for each in (first, second)
        ]
        assert tried == [(0, 2, None)] * 2
        assert bench.probe.undone(first.id) == [("restart", "pending", 1)]
        assert (bench.counts(job)["pending"], sorted(row.generation for row in rows.values())) == (3, [1, 2, 2])
        bench.verify(job)
        bench.ledger.move(job, "start", actor="ann", because="go")
        worker = bench.worker(job)
        worker.lease()
        hand = worker.claim()
        assert [here.attempts for here in hand] == [1, 1, 1]
        worker.settle(*(page(here) for here in hand))
        assert finished(bench, worker).status == "completed"
        bench.verify(job)

    def test_what_was_tried_again_before_the_walk_came_to_it_keeps_that_attempt(self, bench: Bench) -> None:
        worker = bench.working(1)
        worker.settle(*(retry(here) for here in worker.claim()))
        worker.release()
        job = worker.job
        bench.ledger.request(job, "pause", actor="ann", because="enough for today")
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        reopen(bench, job, "restart")
        bench.ledger.move(job, "start", actor="ann", because="go")
        worker = bench.worker(job)
        worker.lease()
        worker.settle(*(retry(here) for here in worker.claim()))
        walk_to_the_end(bench, job)
        [row] = bench.targets(job)
        assert (row.attempts, row.generation) == (2, 1)
        bench.verify(job)


def stopped(bench: Bench) -> int:
    """A job that was paused with one page won, one failed and one pending."""
    worker = bench.working(3)
    first, second, *_ = worker.claim(2)
    worker.settle(page(first), fail(second))
    worker.release()
    bench.ledger.request(worker.job, "pause", actor="ann", because="enough for today")
    bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
    return worker.job


class TestTheTable:
    @pytest.mark.parametrize("verb", REOPENING)
    @pytest.mark.parametrize("status", ["pending", "in_progress", "paused", "completed", "cancelled"])
    def test_every_status_meets_every_verb(self, bench: Bench, status: str, verb: str) -> None:
        """JOB-03, C16."""
        job = {
            "pending": lambda: bench.submitted().id,
            "in_progress": lambda: bench.started().id,
            "paused": lambda: stopped(bench),
            "completed": lambda: completed(bench),
            "cancelled": lambda: _cancelled(bench),
        }[status]()
        before = bench.job(job)
        if verb in allowed(JOB, status):
            assert reopen(bench, job, verb).version == before.version + 1
            assert bench.ledger.walking(job) == verb
        else:
            with pytest.raises(IllegalMove):
                reopen(bench, job, verb)
            assert (bench.job(job), bench.ledger.walking(job)) == (before, None)

    def test_of_two_retries_on_one_version_one_is_refused(self, bench: Bench) -> None:
        """E12."""
        job = stopped(bench)
        version = bench.job(job).version
        bench.ledger.reopen(job, "retry", actor="ann", because="again", version=version)
        with pytest.raises(Refused):
            bench.open().reopen(job, "retry", actor="ben", because="again", version=version)


def _cancelled(bench: Bench) -> int:
    job = bench.started().id
    bench.ledger.request(job, "cancel", actor="ann", because="enough")
    bench.ledger.acknowledge(job, is_dead=bench.is_dead)
    return job
