"""A changed scope: found targets are judged again, what no rule leaves out any more is put back, seeds stay."""

from __future__ import annotations

import pytest

from holdfast.errors import Refused
from holdfast.model.edit import Rejudged
from holdfast.testing.conformance.bench import MARSH, Bench
from holdfast.testing.conformance.reopening import sound
from holdfast.testing.conformance.verdicts import page
from holdfast.testing.conformance.worker import Worker

SKIPPED = ("skipped", "excluded")
PENDING = ("pending", None)


def no_toads(url: str, depth: int, page_url: str) -> str:
    """A scope without toads and nothing deeper than one; it remembers nothing."""
    assert page_url == f"{MARSH}/frog/1"
    return "exclude" if "/toad/" in url else "depth" if depth > 1 else ""


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


def judged(bench: Bench, job: int, limit: int = 1000) -> Rejudged:
    total = Rejudged(left=True)
    while total.left:
        part = bench.ledger.rejudge(job, no_toads, actor="ann", after=total.after, limit=limit)
        total = Rejudged(total.excluded + part.excluded, total.readmitted + part.readmitted, part.after, part.left)
    return total


def seen(bench: Bench, job: int) -> dict[str, tuple[str, str | None, str | None]]:
    return {row.url.removeprefix(MARSH): (row.status, row.disposition, row.rule) for row in bench.targets(job)}


class TestRejudge:
    @pytest.mark.parametrize("limit", [1, 2, 1000])
    def test_what_is_pending_and_what_the_scope_left_out_is_judged_again(self, bench: Bench, limit: int) -> None:
        job = at_rest(bench).job
        total = judged(bench, job, limit)
        assert (total.excluded, total.readmitted) == (1, 1)
        assert seen(bench, job) == {
            "/frog/1": ("succeeded", "page", None),
            "/frog/2": ("pending", None, None),  # planned: no scope leaves out a seed
            "/newt/1": ("pending", None, None),
            "/toad/1": ("skipped", "excluded", "exclude"),
            "/newt/2": ("pending", None, None),
            "/toad/2": ("skipped", "excluded", "exclude"),
            "/newt/3": ("skipped", "robots", None),
        }
        sound(bench, job)

    def test_what_another_rule_leaves_out_now_keeps_the_image_of_before(self, bench: Bench) -> None:
        """F3: a rule is overwritten, too; judged once more, nothing is."""
        job = at_rest(bench).job
        judged(bench, job)
        judged(bench, job)
        row = bench.target(job, f"{MARSH}/toad/2")
        assert bench.probe.undone(row.id) == [("exclude", "skipped", 1)]
        sound(bench, job)

    def test_judged_again_it_ends_alike(self, bench: Bench) -> None:
        job = at_rest(bench).job
        judged(bench, job)
        before = seen(bench, job)
        again = judged(bench, job)
        assert (again.excluded, again.readmitted, seen(bench, job)) == (0, 0, before)

    def test_what_was_put_back_is_claimed_and_what_was_left_out_is_not(self, bench: Bench) -> None:
        worker = at_rest(bench)
        judged(bench, worker.job)
        worker.lease()
        assert sorted(here.url.removeprefix(MARSH) for here in worker.claim()) == ["/frog/2", "/newt/1", "/newt/2"]
        sound(bench, worker.job)

    def test_an_exclusion_still_leaves_out_what_the_scope_lets_in(self, bench: Bench) -> None:
        job = at_rest(bench).job
        bench.ledger.exclude(job, "/newt/2", actor="ann")
        judged(bench, job)
        assert seen(bench, job)["/newt/2"] == ("skipped", "excluded", "exclusion 1")

    def test_a_job_that_somebody_holds_is_refused(self, bench: Bench) -> None:
        worker = at_rest(bench)
        worker.lease()
        with pytest.raises(Refused, match="is being worked"):
            judged(bench, worker.job)

    def test_changed_params_are_kept_with_an_event(self, bench: Bench) -> None:
        job = bench.submitted()
        params = {**job.params, "exclude": ["/toad/*"]}
        after = bench.ledger.amend(job, params=params, actor="ann", because="no toads")
        assert (after.params, after.options, after.version) == (params, job.options, job.version + 1)
        assert [verb for verb, _, _ in bench.events(job.id)] == ["submit", "amend"]
