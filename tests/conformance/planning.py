"""Planning and finishing: the cursor that is saved with its targets, and the word "finished" (TGT-08, JOB-09, L10)."""

from __future__ import annotations

import msgspec
import pytest

from conformance.bench import MARSH, Bench
from conformance.fencing import take_over
from conformance.verdicts import fail, page, retry, skip, succeed
from holdfast import faults
from holdfast.errors import BatchMismatch, Corrupt, LedgerUnavailable, LostLease
from holdfast.model.outcome import DEAD_END, REFRESHES


class TestEnqueue:
    def test_planned_targets_are_stored_with_their_cursor(self, bench: Bench) -> None:
        """TGT-08."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        lease = worker.enqueue(*bench.found_pages(2), done=False)
        assert bench.ledger.plan(worker.job)[:2] == (2, False)
        assert (lease.kind, lease.no) == ("plan", 2)
        assert {(row.status, row.parent) for row in bench.targets(worker.job)} == {("pending", None)}
        assert bench.verbs(worker.job, lease.chunk)[-1] == "plan"

    def test_a_plan_goes_on_batch_by_batch_to_its_end(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(2), done=False)
        worker.enqueue(bench.found(f"{MARSH}/last"), cursor=2)
        assert bench.ledger.plan(worker.job)[:2] == (3, True)
        assert bench.job(worker.job).plan_done

    def test_a_repeated_batch_answers_the_lease_and_stores_nothing(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        batch = worker.plan_batch(bench.found_pages(2), done=False)
        first = bench.ledger.enqueue(worker.job, batch)
        assert bench.open().enqueue(worker.job, batch) == first
        assert bench.counts(worker.job)["discovered"] == 2
        assert bench.ledger.plan(worker.job)[:2] == (2, False)

    def test_a_batch_whose_answer_was_lost_is_repeated_safely(self, bench: Bench) -> None:
        """E8."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        batch = worker.plan_batch(bench.found_pages(2))
        faults.arm("enqueue.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.enqueue(worker.job, batch)
        assert bench.ledger.enqueue(worker.job, batch).no == batch.no
        assert bench.counts(worker.job)["discovered"] == 2

    def test_a_batch_that_failed_before_its_commit_never_was(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        faults.arm("enqueue.before_commit:1:raise")
        with pytest.raises(faults.InjectedFault):
            worker.enqueue(*bench.found_pages(2))
        assert bench.ledger.plan(worker.job)[:2] == (0, False)
        assert bench.counts(worker.job)["discovered"] == 0

    def test_a_repeated_batch_with_other_contents_is_refused(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        bench.ledger.enqueue(worker.job, worker.plan_batch(bench.found_pages(2)))
        with pytest.raises(BatchMismatch):
            bench.ledger.enqueue(worker.job, worker.plan_batch(bench.found_pages(3)))
        assert bench.counts(worker.job)["discovered"] == 2

    def test_a_planner_that_lost_its_lease_stores_nothing(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        take_over(bench, worker)
        with pytest.raises(LostLease):
            worker.enqueue(*bench.found_pages(2))
        assert bench.counts(worker.job)["discovered"] == 0

    def test_a_batch_that_does_not_begin_at_the_cursor_is_refused(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        with pytest.raises(Corrupt):
            worker.enqueue(*bench.found_pages(2), cursor=7)
        assert bench.ledger.plan(worker.job)[:2] == (0, False)
        assert bench.counts(worker.job)["discovered"] == 0

    def test_a_planned_target_may_be_skipped_at_once(self, bench: Bench) -> None:
        """FRO-08."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/a", disposition="robots"))
        assert bench.ledger.books(worker.job)[1].skipped_by == {"robots": 1}


class TestNames:
    def test_a_target_with_a_natural_key_is_one_whatever_its_url(self, bench: Bench) -> None:
        """CAS-10: the key is the canonical id."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.named("IMM-1-25", f"{MARSH}/1"), bench.named("IMM-1-25", f"{MARSH}/other/1"), done=False)
        worker.enqueue(bench.named("IMM-1-25", f"{MARSH}/late/1"), bench.found(f"{MARSH}/1"), cursor=2)
        rows = [(row.name, row.url) for row in bench.targets(worker.job)]
        assert sorted(rows, key=str) == [("IMM-1-25", f"{MARSH}/1"), (None, f"{MARSH}/1")]

    def test_names_and_params_are_handed_to_who_claims(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.named("IMM-1-25", f"{MARSH}/1", '{"court":"ky"}'))
        wish = msgspec.structs.replace(worker.wish(), named=True)
        [here] = worker.take(wish)
        assert (here.name, here.params, here.type) == ("IMM-1-25", '{"court":"ky"}', "case")
        assert [(item.name, item.params) for item in worker.adopt()] == [(here.name, here.params)]

    def test_names_that_a_step_found_commit_with_its_target(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(page(here, found=(bench.named("IMM-2-25", f"{MARSH}/2"),)))
        [found] = worker.take(msgspec.structs.replace(worker.wish(), named=True))
        assert found.name == "IMM-2-25"


class TestPlanThatFails:
    def test_the_trail_of_a_plan_is_stored_with_its_cursor(self, bench: Bench) -> None:
        """TGT-08."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        bench.ledger.enqueue(worker.job, worker.plan_batch(bench.found_pages(2), done=False, trail=b"frogs"))
        assert bench.ledger.plan(worker.job) == (2, False, b"frogs")

    def test_a_plan_that_raised_fails_the_job_when_what_it_gave_is_done(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(1), done=False)
        assert bench.ledger.advance(worker.job, worker.control, plan_failed="KeyError: 'start'") is None
        worker.settle(*map(succeed, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control, plan_failed="KeyError: 'start'")
        assert job is not None
        assert (job.status, job.stop_reason) == ("failed", "plan_failed")
        assert "KeyError: 'start'" in job.because

    def test_a_job_whose_plan_raised_goes_on_behind_its_cursor(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        bench.ledger.advance(worker.job, worker.control, plan_failed="KeyError: 'start'")
        worker.release()
        bench.ledger.move(worker.job, "resume", actor="ann", because="mended")
        worker.lease()
        worker.enqueue(*bench.found_pages(1))
        worker.settle(*map(succeed, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        assert job.status == "completed"


class TestFinish:
    def test_a_drained_job_is_completed_with_its_health(self, bench: Bench) -> None:
        """JOB-09, L10."""
        worker = bench.working(pages=2)
        bench.ledger.open_run(worker.job, mode="full", trigger="cli")
        worker.settle(*map(succeed, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        assert (job.status, job.health) == ("completed", "ok")
        assert job.finished_at == bench.clock.wall_ms()
        assert bench.events(worker.job)[-1] == ("complete", "in_progress", "completed")
        assert bench.probe.runs(worker.job) == [(1, "completed", True)]

    def test_a_job_none_of_whose_seeds_gave_anything_is_failed(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.settle(*map(fail, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        assert (job.status, job.health) == ("failed", "failed")
        assert job.last_error is not None

    def test_a_job_that_failed_behind_its_seeds_is_not_failed_for_them(self, bench: Bench) -> None:
        """Nothing came out of it, yet a seed led somewhere: that is suspicious, not unreachable."""
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(fail(first), skip(second, found=(bench.found(f"{MARSH}/deep", depth=1),)))
        worker.settle(*map(fail, worker.claim()))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        assert (job.status, job.health) == ("completed", "suspicious")

    @pytest.mark.parametrize(
        ("rules", "pages_max", "health"),
        [
            ((DEAD_END, REFRESHES), None, "suspicious"),
            ((DEAD_END, DEAD_END), 3, "suspicious"),
            ((DEAD_END, DEAD_END), 2, "ok"),
            ((DEAD_END, ""), None, "ok"),
        ],
    )
    def test_a_job_of_dead_ends_only_is_suspicious_and_says_why(
        self, bench: Bench, rules: tuple[str, str], pages_max: int | None, health: str
    ) -> None:
        """FRO-13: unless as many pages as were asked for came out of it."""
        worker = bench.working(pages=2)
        pages = zip(worker.claim(), rules, strict=True)
        worker.settle(*(succeed(here, rule=rule, because=f"{rule}!" if rule else "") for here, rule in pages))
        job = bench.ledger.advance(worker.job, worker.control, pages_max=pages_max)
        assert job is not None
        assert (job.status, job.health) == ("completed", health)
        assert (f"{DEAD_END}!" in job.because) == (health == "suspicious")

    def test_a_job_with_some_failures_is_completed_in_part(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first), fail(second))
        job = bench.ledger.advance(worker.job, worker.control)
        assert job is not None
        assert (job.status, job.health) == ("completed", "partial")

    def test_the_last_checkpoint_is_written_with_the_word(self, bench: Bench) -> None:
        """CHK-02."""
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        bench.ledger.advance(worker.job, worker.control)
        _, counts, point = bench.ledger.books(worker.job)
        assert point is not None
        assert (point.reason, point.counts) == ("final", counts)

    @pytest.mark.parametrize("left", ["ready", "held", "waiting", "solo"])
    def test_nothing_is_finished_while_a_target_is_left(self, bench: Bench, left: str) -> None:
        """JOB-09: one page is done, the other one is not."""
        worker = bench.working(pages=2)
        first, second = worker.claim()
        match left:
            case "ready":
                worker.settle(succeed(first), retry(second))
            case "waiting":
                worker.settle(succeed(first), retry(second, wait_ms=9000))
            case "held":
                worker.settle(succeed(first))
            case _:
                worker.settle(succeed(first))
                bench.dead.add(worker.owner)
                worker = bench.worker(worker.job)
                worker.lease()
        assert bench.ledger.advance(worker.job, worker.control) is None
        assert bench.job(worker.job).status == "in_progress"

    def test_nothing_is_finished_before_the_plan_is(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(1), done=False)
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.advance(worker.job, worker.control) is None

    def test_nothing_is_finished_while_a_request_stands(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        bench.ledger.request(worker.job, "pause", actor="ann", because="enough")
        assert bench.ledger.advance(worker.job, worker.control) is None

    def test_only_the_holder_of_the_control_chunk_finishes(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        heir = take_over(bench, worker)
        assert bench.ledger.advance(worker.job, worker.control) is None
        assert bench.job(worker.job).status == "in_progress"
        assert bench.ledger.advance(worker.job, heir.control) is not None

    def test_a_finish_that_failed_before_its_commit_never_was(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        faults.arm("advance.before_commit:1:raise")
        with pytest.raises(faults.InjectedFault):
            bench.ledger.advance(worker.job, worker.control)
        assert bench.job(worker.job).status == "in_progress"

    def test_a_repeated_finish_answers_the_finished_job(self, bench: Bench) -> None:
        """Its first answer may have been lost; "work is left" would be false."""
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        first = bench.ledger.advance(worker.job, worker.control)
        assert bench.open().advance(worker.job, worker.control) == first
        assert len([verb for verb, _, _ in bench.events(worker.job) if verb == "complete"]) == 1


class TestCheckpoints:
    def test_a_checkpoint_is_written_inside_the_settle(self, bench: Bench) -> None:
        """CHK-04, CHK-05: commit numbers and counts as of that commit."""
        worker = bench.working(pages=3)
        [here] = worker.claim(room=1)
        worker.renew(active_ms=700)
        settled = worker.settle(page(here), wish=worker.wish(room=1), checkpoint="targets")
        _, counts, point = bench.ledger.books(worker.job)
        assert point is not None
        assert settled.checkpoint == point.number == 1
        assert (point.reason, point.cursor, point.active_ms, point.previous) == ("targets", 3, 700, b"")
        assert point.counts == counts
        assert point.commits == {str(item.chunk): item.no for item in worker.leases.values()}

    def test_checkpoints_are_numbered_and_chained(self, bench: Bench) -> None:
        """F3."""
        worker = bench.working(pages=2)
        points = []
        for here in worker.claim():
            worker.settle(succeed(here), checkpoint="targets")
            points.append(bench.ledger.books(worker.job)[2])
        first, second = points
        assert first is not None
        assert second is not None
        assert (second.number, second.previous) == (2, first.checksum)
        assert first.is_valid()
        assert not msgspec.structs.replace(first, cursor=99).is_valid()

    def test_a_settle_without_a_reason_writes_none(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        assert worker.settle(*map(skip, worker.claim())).checkpoint is None

    def test_a_repeated_settle_writes_no_second_checkpoint(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        batches = worker.batches(*map(succeed, worker.claim()))
        worker.send(batches, checkpoint="targets")
        worker.send(batches, checkpoint="targets")
        point = bench.ledger.books(worker.job)[2]
        assert point is not None
        assert point.number == 1
