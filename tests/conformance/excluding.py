"""Exclusions: what is pending is left out, what is found is judged in the settle, removal puts exactly that back."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.reopening import finished, reopen, walk_to_the_end
from conformance.verdicts import fail, hand_back, page, retry
from holdfast import faults
from holdfast.errors import BadParams, LedgerUnavailable, NotFound, Refused
from holdfast.model.edit import Exclusion

TAGS = "/tags/*"


def exclude(bench: Bench, job: int, pattern: str = TAGS, **more: object) -> Exclusion:
    return bench.ledger.exclude(job, pattern, actor="ann", **more)  # type: ignore[arg-type]


def swept(bench: Bench, job: int, n: int = 1, limit: int = 1000) -> int:
    done = bench.ledger.sweep(job, n, limit=limit)
    changed = done.changed
    while done.left:
        done = bench.ledger.sweep(job, n, after=done.after, limit=limit)
        changed += done.changed
    return changed


def put_back(bench: Bench, job: int, n: int = 1, limit: int = 1000) -> int:
    bench.ledger.include(job, n, actor="ben")
    return walk_to_the_end(bench, job, limit)


def tags(bench: Bench, n: int = 4, depth: int = 0) -> list:  # type: ignore[type-arg]
    return [bench.found(f"{MARSH}/tags/{number}", depth=depth, rank=50 + number) for number in range(1, n + 1)]


def statuses(bench: Bench, job: int) -> dict[str, tuple[str, str | None, str | None]]:
    return {row.url.removeprefix(MARSH): (row.status, row.disposition, row.rule) for row in bench.targets(job)}


LEFT_OUT = ("skipped", "excluded", "exclusion 1")


class TestExclude:
    def test_pending_targets_that_fit_are_left_out_and_the_others_stay(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(2), *tags(bench))
        made = exclude(bench, worker.job)
        assert (made.n, made.pattern, made.syntax, made.actor) == (1, TAGS, "glob", "ann")
        assert swept(bench, worker.job) == 4
        seen = statuses(bench, worker.job)
        assert [seen[f"/tags/{n}"] for n in (1, 2, 3, 4)] == [LEFT_OUT] * 4
        assert seen["/frog/1"] == ("pending", None, None)
        assert bench.events(worker.job)[-1] == ("exclude", "in_progress", "in_progress")
        row = bench.target(worker.job, f"{MARSH}/tags/1")
        assert bench.probe.undone(row.id) == [("exclude", "pending", 1)]
        assert len(worker.claim()) == 2
        bench.verify(worker.job)

    @pytest.mark.parametrize("limit", [1, 2, 3, 1000])
    def test_slices_of_any_size_leave_out_the_same(self, bench: Bench, limit: int) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(3), *tags(bench), bench.found("https://heron.test/tags/9"))
        waiting = worker.claim(2)
        worker.settle(*(retry(here, wait_ms=9_000) for here in waiting))
        exclude(bench, worker.job, "*g*")
        assert swept(bench, worker.job, limit=limit) == 8
        assert bench.counts(worker.job)["pending"] == 0
        bench.verify(worker.job)

    def test_a_link_found_later_is_judged_in_the_settle_of_a_worker_that_does_not_know(self, bench: Bench) -> None:
        worker = bench.working(1)
        [here] = worker.claim()
        verdict = page(here, found=(*tags(bench, 2, depth=1), bench.found(f"{MARSH}/toad", depth=1)))
        frozen = worker.batches(verdict)  # made before the exclusion
        exclude(bench, worker.job)
        worker.send(frozen)
        seen = statuses(bench, worker.job)
        assert (seen["/tags/1"], seen["/tags/2"]) == (LEFT_OUT, LEFT_OUT)
        assert [each.url for each in worker.claim()] == [f"{MARSH}/toad"]
        bench.verify(worker.job)

    def test_what_is_planned_later_is_judged_too(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        exclude(bench, worker.job)
        worker.enqueue(*tags(bench, 2), bench.found(f"{MARSH}/frog/1"))
        assert statuses(bench, worker.job)["/tags/1"] == LEFT_OUT
        assert bench.counts(worker.job)["pending"] == 1
        bench.verify(worker.job)

    @pytest.mark.parametrize("verdict", [retry, hand_back])
    def test_what_was_in_hand_and_comes_back_is_not_claimed_again(self, bench: Bench, verdict: object) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 1), bench.found(f"{MARSH}/frog/1", rank=99))
        [here] = worker.claim(1)
        assert here.url == f"{MARSH}/tags/1"
        exclude(bench, worker.job)
        assert swept(bench, worker.job) == 0
        worker.settle(verdict(here))  # type: ignore[operator]
        assert [each.url for each in worker.claim()] in ([f"{MARSH}/frog/1"], [])
        assert statuses(bench, worker.job)["/tags/1"] == LEFT_OUT
        assert f"{MARSH}/tags/1" not in {each.url for each in worker.hand.values()}
        bench.verify(worker.job)

    def test_a_suspect_that_fits_is_not_tried_again(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 2))
        worker.claim()
        bench.dead.add(worker.owner)
        after = bench.worker(worker.job)
        after.lease()
        exclude(bench, worker.job)
        assert after.claim(alone=True) == []
        bench.verify(worker.job)
        swept(bench, worker.job)
        assert put_back(bench, worker.job) == 2
        bench.verify(worker.job)
        assert len(after.claim(alone=True)) == 1

    def test_results_that_fit_are_kept(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 2))
        [here] = worker.claim(1)
        worker.settle(page(here))
        exclude(bench, worker.job)
        assert swept(bench, worker.job) == 1
        assert bench.target(worker.job, here.url).status == "succeeded"
        assert finished(bench, worker).status == "completed"
        bench.verify(worker.job)

    def test_the_same_exclusion_again_is_found_and_the_sweep_goes_on(self, bench: Bench) -> None:
        """Killed between two slices, the same command ends alike."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench))
        first = exclude(bench, worker.job)
        faults.arm("sweep.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.sweep(worker.job, 1, limit=2)
        assert exclude(bench, worker.job) == first
        assert swept(bench, worker.job, limit=2) == 2
        assert len(bench.ledger.exclusions(worker.job)) == 1
        bench.verify(worker.job)

    def test_a_regular_expression_is_searched_in_path_and_query(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/list?page=7"), bench.found(f"{MARSH}/list"))
        exclude(bench, worker.job, r"[?&]page=\d+$", syntax="regex")
        assert swept(bench, worker.job) == 1
        assert statuses(bench, worker.job)["/list?page=7"] == LEFT_OUT

    @pytest.mark.parametrize(
        ("pattern", "syntax"), [(r"(a)\1$", "regex"), ("(", "regex"), ("tags", "glob"), ("/", "sql")]
    )
    def test_a_pattern_that_cannot_be_used_is_refused_and_adds_nothing(
        self, bench: Bench, pattern: str, syntax: str
    ) -> None:
        job = bench.started().id
        with pytest.raises(BadParams):
            exclude(bench, job, pattern, syntax=syntax)
        assert bench.ledger.exclusions(job) == []

    def test_a_cancelled_job_takes_none(self, bench: Bench) -> None:
        job = bench.started().id
        bench.ledger.request(job, "cancel", actor="ann", because="enough")
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        with pytest.raises(Refused):
            exclude(bench, job)


class TestInclude:
    def test_removal_puts_back_exactly_what_it_had_left_out(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        deep = bench.found(f"{MARSH}/tags/deep", disposition="excluded", rule="depth")
        worker.enqueue(*bench.found_pages(2), *tags(bench), deep)
        [here] = worker.claim(1)
        worker.settle(retry(here, found=()))
        exclude(bench, worker.job)
        swept(bench, worker.job, limit=2)
        [there] = worker.claim(1)
        worker.settle(page(there, found=(bench.found(f"{MARSH}/tags/late", depth=1),)))
        assert statuses(bench, worker.job)["/tags/late"] == LEFT_OUT
        assert put_back(bench, worker.job, limit=2) == 5
        seen = statuses(bench, worker.job)
        assert seen["/tags/late"] == seen["/tags/1"] == ("pending", None, None)
        assert seen["/tags/deep"] == ("skipped", "excluded", "depth")
        assert bench.events(worker.job)[-1] == ("include", "in_progress", "in_progress")
        bench.verify(worker.job)
        while hand := worker.claim():
            worker.settle(*(page(each) for each in hand), checkpoint="targets")
        assert finished(bench, worker).status == "completed"
        bench.verify(worker.job)

    def test_attempts_that_were_spent_stay_spent(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 1))
        [here] = worker.claim()
        worker.settle(retry(here, wait_ms=5_000))
        exclude(bench, worker.job)
        assert swept(bench, worker.job) == 1
        assert put_back(bench, worker.job) == 1
        row = bench.target(worker.job, here.url)
        assert (row.attempts, row.generation, row.status) == (1, 1, "pending")
        [again] = worker.claim()
        assert again.attempts == 2
        bench.verify(worker.job)

    def test_what_another_exclusion_leaves_out_too_stays_out_by_that_one(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 3))
        exclude(bench, worker.job)
        swept(bench, worker.job)
        exclude(bench, worker.job, "*/2")
        assert put_back(bench, worker.job) == 2
        assert statuses(bench, worker.job)["/tags/2"] == ("skipped", "excluded", "exclusion 2")
        row = bench.target(worker.job, f"{MARSH}/tags/2")
        assert bench.probe.undone(row.id) == [("exclude", "pending", 1), ("exclude", "skipped", 1)]
        bench.verify(worker.job)

    def test_the_job_is_not_finished_before_what_was_asked_back_is_there(self, bench: Bench) -> None:
        """L10: whoever removed the exclusion may be gone by now."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 3))
        exclude(bench, worker.job)
        swept(bench, worker.job)
        bench.ledger.include(worker.job, 1, actor="ann")
        assert worker.claim() == []
        assert bench.ledger.advance(worker.job, worker.control) is None
        assert bench.ledger.walking(worker.job) == "include"
        assert bench.ledger.walk(worker.job, limit=2).left
        assert walk_to_the_end(bench, worker.job, limit=2) == 1
        worker.settle(*(page(here) for here in worker.claim()))
        assert finished(bench, worker).status == "completed"
        assert bench.counts(worker.job)["succeeded"] == 3
        bench.verify(worker.job)

    def test_slices_whose_answers_were_lost_end_like_one(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 3))
        exclude(bench, worker.job)
        swept(bench, worker.job)
        faults.arm("include.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.include(worker.job, 1, actor="ann")
        bench.ledger.include(worker.job, 1, actor="ann")
        while bench.ledger.walking(worker.job) is not None:
            faults.arm("walk.after_commit:1:unknown")
            with pytest.raises(LedgerUnavailable):
                bench.ledger.walk(worker.job, limit=1)
        row = bench.target(worker.job, f"{MARSH}/tags/1")
        assert bench.probe.undone(row.id) == [("exclude", "pending", 1), ("include", "skipped", 1)]
        assert bench.counts(worker.job)["pending"] == 3
        bench.verify(worker.job)

    def test_links_are_judged_no_more(self, bench: Bench) -> None:
        worker = bench.working(1)
        exclude(bench, worker.job)
        put_back(bench, worker.job)
        [here] = worker.claim()
        worker.settle(page(here, found=tuple(tags(bench, 1, depth=1))))
        assert statuses(bench, worker.job)["/tags/1"] == ("pending", None, None)

    def test_an_exclusion_that_is_not_there_is_not_found(self, bench: Bench) -> None:
        job = bench.started().id
        with pytest.raises(NotFound, match="none"):
            bench.ledger.include(job, 3, actor="ann")

    def test_removing_twice_is_removing_once(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*tags(bench, 3))
        exclude(bench, worker.job)
        swept(bench, worker.job)
        bench.ledger.include(worker.job, 1, actor="ann")
        before = bench.job(worker.job)
        assert put_back(bench, worker.job) == 3
        assert bench.job(worker.job).version == before.version
        assert put_back(bench, worker.job) == 0

    def test_a_completed_job_stays_complete_and_its_rescan_fetches_them(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(1), *tags(bench, 2))
        exclude(bench, worker.job)
        swept(bench, worker.job)
        worker.settle(*(page(here) for here in worker.claim()))
        assert finished(bench, worker).status == "completed"
        assert put_back(bench, worker.job) == 0
        reopen(bench, worker.job, "rescan")
        assert walk_to_the_end(bench, worker.job) == 3
        bench.verify(worker.job)

    def test_a_standing_exclusion_holds_through_a_rescan(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(1), *tags(bench, 2))
        exclude(bench, worker.job)
        exclude(bench, worker.job, "/frog/*", this_run=True)
        swept(bench, worker.job)
        swept(bench, worker.job, 2)
        ended = bench.ledger.advance(worker.job, worker.control)
        assert ended is not None
        worker.release()
        assert ended.status == "completed"
        reopen(bench, worker.job, "rescan")
        assert walk_to_the_end(bench, worker.job) == 1
        assert statuses(bench, worker.job)["/frog/1"] == ("pending", None, None)
        again = bench.worker(worker.job)
        again.lease()
        [here] = again.claim()
        again.settle(fail(here))
        bench.verify(worker.job)
