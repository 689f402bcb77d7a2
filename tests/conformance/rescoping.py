"""A changed scope: found targets are judged again, what no rule leaves out any more is put back, seeds stay."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.bench import MARSH, Bench
from conformance.reopening import finished, walk_to_the_end
from conformance.verdicts import page
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import BadParams, LedgerUnavailable, Refused
from holdfast.model.edit import Walked

NO_TOADS = {"seeds": [MARSH], "scope": "host", "include": [], "exclude": ["/toad/*", "/frog/*"], "max_depth": 1}
NO_NEWTS = {**NO_TOADS, "exclude": ["/newt/*"]}


def at_rest(bench: Bench) -> Worker:
    """One page done; on it two pending links, two that the scope left out, and one that robots.txt did."""
    worker = bench.working(pages=2)
    [seed] = worker.claim(room=1)
    links = [
        bench.found(f"{MARSH}/newt/1", depth=1),
        bench.found(f"{MARSH}/toad/1", depth=1),
        bench.found(f"{MARSH}/newt/2", depth=1, disposition="excluded", rule="include"),
        bench.found(f"{MARSH}/toad/2", depth=1, disposition="excluded", rule="include"),
        bench.found(f"{MARSH}/newt/3", depth=1, disposition="robots"),
    ]
    worker.settle(page(seed, found=tuple(links)))
    worker.release()
    return worker


def judged(bench: Bench, job: int, limit: int = 1000, params: dict[str, Any] = NO_TOADS) -> Walked:
    bench.ledger.rescope(bench.job(job), params, actor="ann", because="another scope")
    back = out = 0
    while bench.ledger.walking(job) is not None:
        done = bench.ledger.walk(job, limit=limit)
        back, out = back + done.requeued, out + done.excluded
    return Walked(back, excluded=out)


def seen(bench: Bench, job: int) -> dict[str, tuple[str, str | None, str | None]]:
    return {row.url.removeprefix(MARSH): (row.status, row.disposition, row.rule) for row in bench.targets(job)}


class TestRescope:
    @pytest.mark.parametrize("limit", [1, 2, 1000])
    def test_what_is_pending_and_what_the_scope_left_out_is_judged_again(self, bench: Bench, limit: int) -> None:
        job = at_rest(bench).job
        total = judged(bench, job, limit)
        assert (total.excluded, total.requeued) == (1, 1)
        assert seen(bench, job) == {
            "/frog/1": ("succeeded", "page", None),
            "/frog/2": ("pending", None, None),  # planned: no scope leaves out a seed, whatever its patterns
            "/newt/1": ("pending", None, None),
            "/toad/1": ("skipped", "excluded", "exclude"),
            "/newt/2": ("pending", None, None),
            "/toad/2": ("skipped", "excluded", "exclude"),
            "/newt/3": ("skipped", "robots", None),
        }
        bench.verify(job)

    def test_what_another_rule_leaves_out_now_keeps_the_image_of_before(self, bench: Bench) -> None:
        """F3: a rule is overwritten, too; judged once more, nothing is."""
        job = at_rest(bench).job
        judged(bench, job)
        judged(bench, job, params={**NO_TOADS, "max_depth": 2})
        row = bench.target(job, f"{MARSH}/toad/2")
        assert bench.probe.undone(row.id) == [("exclude", "skipped", 1)]
        bench.verify(job)

    def test_judged_again_it_ends_alike(self, bench: Bench) -> None:
        job = at_rest(bench).job
        judged(bench, job)
        before = seen(bench, job)
        again = judged(bench, job, params={**NO_TOADS, "max_depth": 2})
        assert (again.excluded, again.requeued, seen(bench, job)) == (0, 0, before)

    def test_what_was_put_back_is_claimed_and_what_was_left_out_is_not(self, bench: Bench) -> None:
        worker = at_rest(bench)
        judged(bench, worker.job)
        worker.lease()
        assert sorted(here.url.removeprefix(MARSH) for here in worker.claim()) == ["/frog/2", "/newt/1", "/newt/2"]
        bench.verify(worker.job)

    def test_an_exclusion_still_leaves_out_what_the_scope_lets_in(self, bench: Bench) -> None:
        job = at_rest(bench).job
        bench.ledger.exclude(job, "/newt/2", actor="ann")
        judged(bench, job)
        assert seen(bench, job)["/newt/2"] == ("skipped", "excluded", "exclusion 1")

    def test_a_job_that_somebody_holds_is_refused_and_nothing_is_changed(self, bench: Bench) -> None:
        worker = at_rest(bench)
        before = seen(bench, worker.job)
        worker.lease()
        job = bench.job(worker.job)
        with pytest.raises(Refused, match="is being worked"):
            judged(bench, worker.job)
        assert (bench.job(worker.job), seen(bench, worker.job), bench.ledger.walking(worker.job)) == (job, before, None)

    @pytest.mark.parametrize("slices", [0, 2])
    def test_nobody_works_the_job_before_it_is_judged_to_the_end(self, bench: Bench, slices: int) -> None:
        """L10: whoever changed the scope may be gone by now. No page is claimed, none is missing in the end."""
        worker = at_rest(bench)
        bench.ledger.rescope(bench.job(worker.job), NO_TOADS, actor="ann", because="no toads")
        for _ in range(slices):
            bench.ledger.walk(worker.job, limit=2)
        assert bench.ledger.walking(worker.job) == "rescope"
        assert worker.lease() == ()
        walk_to_the_end(bench, worker.job, limit=2)
        assert worker.lease() != ()
        assert sorted(here.url.removeprefix(MARSH) for here in worker.claim()) == ["/frog/2", "/newt/1", "/newt/2"]
        worker.settle(*(page(here) for here in worker.hand.values()))
        assert finished(bench, worker).status == "completed"
        assert bench.counts(worker.job)["succeeded"] == 4
        bench.verify(worker.job)

    def test_a_scope_that_replaces_one_not_judged_to_the_end_decides_about_all(self, bench: Bench) -> None:
        job = at_rest(bench).job
        bench.ledger.rescope(bench.job(job), NO_TOADS, actor="ann", because="no toads")
        bench.ledger.walk(job, limit=4)
        judged(bench, job, limit=2, params=NO_NEWTS)
        assert {url: rule for url, (status, _, rule) in seen(bench, job).items() if status == "skipped"} == {
            "/newt/1": "exclude",
            "/newt/2": "exclude",
            "/newt/3": None,
        }
        bench.verify(job)

    def test_answers_that_were_lost_are_repeated_and_told_once(self, bench: Bench) -> None:
        known = bench.job(at_rest(bench).job)
        faults.arm("rescope.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.rescope(known, NO_TOADS, actor="ann", because="no toads")
        bench.ledger.rescope(known, NO_TOADS, actor="ann", because="no toads")
        assert [verb for verb, _, _ in bench.events(known.id)].count("amend") == 1
        while bench.ledger.walking(known.id) is not None:
            faults.arm("walk.after_commit:1:unknown")
            with pytest.raises(LedgerUnavailable):
                bench.ledger.walk(known.id, limit=2)
        row = bench.target(known.id, f"{MARSH}/toad/1")
        assert bench.probe.undone(row.id) == [("exclude", "pending", 1)]
        bench.verify(known.id)

    def test_of_two_who_change_the_scope_the_second_is_refused_and_changes_nothing(self, bench: Bench) -> None:
        known = bench.job(at_rest(bench).job)
        judged(bench, known.id)
        before = seen(bench, known.id)
        with pytest.raises(Refused, match="changed by another process"):
            bench.ledger.rescope(known, NO_NEWTS, actor="ben", because="no newts")
        assert (bench.job(known.id).params, seen(bench, known.id)) == (NO_TOADS, before)
        assert bench.ledger.walking(known.id) is None

    def test_params_without_a_scope_are_refused(self, bench: Bench) -> None:
        job = bench.submitted()
        with pytest.raises(BadParams, match="have no scope"):
            bench.ledger.rescope(job, {"seeds": [MARSH], "exclude": []}, actor="ann", because="none")
        assert (bench.job(job.id), bench.ledger.walking(job.id)) == (job, None)

    def test_changed_params_are_kept_with_an_event(self, bench: Bench) -> None:
        job = bench.submitted()
        after = bench.ledger.rescope(job, NO_TOADS, actor="ann", because="no toads")
        assert (after.params, after.options, after.version) == (NO_TOADS, job.options, job.version + 1)
        assert [verb for verb, _, _ in bench.events(job.id)] == ["submit", "amend"]
