"""Moves and requests: start, resume, pause, cancel, and the acknowledgement that carries one out (JOB-03, PAU)."""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.verdicts import fail, page, succeed
from holdfast import faults
from holdfast.errors import BadParams, IllegalMove, LedgerUnavailable, Refused
from holdfast.model.states import JOB
from holdfast.ports import Ledger


def ask(ledger: Ledger, job: int, action: str, **more: str) -> None:
    ledger.request(job, action, actor="ann", because="enough for today", **more)


def paused(bench: Bench) -> int:
    job = bench.started().id
    ask(bench.ledger, job, "pause")
    assert bench.ledger.acknowledge(job, is_dead=bench.is_dead) is not None
    return job


class TestMove:
    def test_start_makes_a_pending_job_run(self, bench: Bench) -> None:
        before = bench.submitted()
        bench.clock.advance(5)
        after = bench.ledger.move(before.id, "start", actor="ann", because="go")
        assert (after.status, after.version, after.because) == ("in_progress", before.version + 1, "go")
        assert after.started_at == bench.clock.wall_ms()
        assert bench.events(before.id)[-1] == ("start", "pending", "in_progress")

    def test_resume_clears_the_request_and_who_paused(self, bench: Bench) -> None:
        """PAU-03."""
        job = paused(bench)
        after = bench.ledger.move(job, "resume", actor="ann", because="go on")
        assert (after.status, after.requested, after.paused_by) == ("in_progress", None, None)
        assert {item.requested for item in bench.worker(job).lease()} == {None}

    def test_resuming_a_failed_job_tries_its_seeds_afresh(self, bench: Bench) -> None:
        """JOB-03: after the cause was mended, the same command goes on; earlier attempts stay in the history."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(fail(here))
        assert (bench.ledger.advance(worker.job, worker.control) or bench.started()).status == "failed"
        worker.release()
        bench.ledger.move(worker.job, "resume", actor="ann", because="the site is back")
        again = bench.worker(worker.job)
        again.lease()
        [seed] = again.claim()
        assert (seed.url, seed.attempts, seed.generation) == (here.url, 1, 2)
        again.settle(page(seed))
        ended = bench.ledger.advance(worker.job, again.control)
        assert ended is not None
        assert (ended.status, bench.counts(worker.job)["succeeded"]) == ("completed", 1)
        assert len(bench.ledger.history(worker.job, target=seed.id)[1]) == 2

    @pytest.mark.parametrize("verb", ["start", "resume"])
    def test_a_move_that_the_table_lacks_is_refused_and_changes_nothing(self, bench: Bench, verb: str) -> None:
        """JOB-03: from in_progress neither leads anywhere."""
        job = bench.started()
        with pytest.raises(IllegalMove) as refused:
            bench.ledger.move(job.id, verb, actor="ann", because="again")
        assert "pause" in refused.value.allowed
        assert bench.job(job.id) == job

    def test_of_two_resumes_on_one_version_one_is_refused(self, bench: Bench) -> None:
        """PAU-04, L12."""
        job = paused(bench)
        version = bench.job(job).version
        bench.ledger.move(job, "resume", actor="ann", because="go", version=version)
        with pytest.raises((IllegalMove, Refused)):
            bench.open().move(job, "resume", actor="ben", because="go", version=version)

    def test_a_lawful_move_on_an_old_version_is_refused(self, bench: Bench) -> None:
        """L12: ann paused and resumed in between; what ben saw is gone."""
        job = paused(bench)
        with pytest.raises(Refused):
            bench.ledger.move(job, "resume", actor="ben", because="go", version=bench.job(job).version - 1)
        assert bench.job(job).status == "paused"


class TestRequest:
    @pytest.mark.parametrize("action", ["pause", "cancel"])
    def test_a_request_moves_nothing_and_is_written_to_every_chunk(self, bench: Bench, action: str) -> None:
        """PAU-02."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        before = bench.job(worker.job)
        ask(bench.ledger, worker.job, action)
        after = bench.job(worker.job)
        assert (after.status, after.requested) == ("in_progress", action)
        assert after.version == before.version + 1
        assert {item.requested for item in worker.renew()} == {action}
        assert len(worker.leases) == 18

    def test_the_same_request_twice_is_one(self, bench: Bench) -> None:
        job = bench.started().id
        ask(bench.ledger, job, "pause")
        before, events = bench.job(job), bench.events(job)
        ask(bench.open(), job, "pause")
        assert (bench.job(job), bench.events(job)) == (before, events)

    def test_a_cancel_overrides_a_pause(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        ask(bench.ledger, worker.job, "pause")
        ask(bench.ledger, worker.job, "cancel")
        assert bench.job(worker.job).requested == "cancel"
        assert {item.requested for item in worker.renew()} == {"cancel"}

    def test_a_pause_does_not_override_a_cancel(self, bench: Bench) -> None:
        job = bench.started().id
        ask(bench.ledger, job, "cancel")
        ask(bench.ledger, job, "pause")
        assert bench.job(job).requested == "cancel"

    @pytest.mark.parametrize("status", ["pending", "paused", "completed", "cancelled"])
    def test_only_a_running_job_can_be_asked_to_pause(self, bench: Bench, status: str) -> None:
        """PAU-01."""
        job = job_that_is(bench, status)
        before = bench.job(job)
        with pytest.raises(IllegalMove):
            ask(bench.ledger, job, "pause")
        assert bench.job(job) == before

    @pytest.mark.parametrize("status", ["pending", "in_progress", "paused", "completed", "cancelled"])
    def test_a_cancel_is_lawful_where_the_table_says_so(self, bench: Bench, status: str) -> None:
        """JOB-03."""
        job = job_that_is(bench, status)
        if any(row.verb == "cancel" and row.source == status for row in JOB.moves):
            ask(bench.ledger, job, "cancel")
            assert bench.job(job).requested == "cancel"
        else:
            with pytest.raises(IllegalMove):
                ask(bench.ledger, job, "cancel")

    def test_nothing_but_a_pause_or_a_cancel_can_be_requested(self, bench: Bench) -> None:
        with pytest.raises(BadParams):
            ask(bench.ledger, bench.started().id, "complete")

    def test_a_pause_whose_answer_was_lost_stands(self, bench: Bench) -> None:
        job = bench.started().id
        faults.arm("pause.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            ask(bench.ledger, job, "pause")
        assert bench.job(job).requested == "pause"


class TestAcknowledge:
    def test_a_pause_waits_until_no_live_owner_holds_a_chunk(self, bench: Bench) -> None:
        """PAU-01, PAU-02."""
        worker = bench.working()
        ask(bench.ledger, worker.job, "pause")
        assert bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead) is None
        assert bench.job(worker.job).status == "in_progress"
        worker.release()
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert (job.status, job.requested) == ("paused", None)

    @pytest.mark.parametrize("by", ["user", "interrupt", "disk_full"])
    def test_a_paused_job_says_who_paused_it(self, bench: Bench, by: str) -> None:
        """JOB-12."""
        job = bench.started().id
        ask(bench.ledger, job, "pause", paused_by=by)
        bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        assert bench.job(job).paused_by == by
        assert bench.events(job)[-1] == ("pause", "in_progress", "paused")

    def test_a_pause_writes_a_checkpoint(self, bench: Bench) -> None:
        """CHK-02."""
        _, _, point = bench.ledger.books(paused(bench))
        assert point is not None
        assert (point.number, point.reason) == (1, "pause")

    def test_a_dead_owner_does_not_hold_up_a_pause(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim()
        ask(bench.ledger, worker.job, "pause")
        bench.dead.add(worker.owner)
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert job.status == "paused"
        assert bench.counts(worker.job)["pending"] == 3
        assert job.recoveries == 1

    def test_a_lapsed_owner_does_not_hold_up_a_pause(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.claim()
        ask(bench.ledger, worker.job, "pause")
        bench.clock.advance(31)
        job = bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert job is not None
        assert job.status == "paused"

    @pytest.mark.parametrize("status", ["pending", "in_progress", "paused"])
    def test_a_cancel_is_carried_out(self, bench: Bench, status: str) -> None:
        job = job_that_is(bench, status)
        ask(bench.ledger, job, "cancel")
        after = bench.ledger.acknowledge(job, is_dead=bench.is_dead)
        assert after is not None
        assert (after.status, after.requested) == ("cancelled", None)
        assert after.finished_at == bench.clock.wall_ms()

    def test_an_acknowledgement_with_nothing_to_do_answers_the_job(self, bench: Bench) -> None:
        """Two workers acknowledge one pause: the second one finds it done."""
        job = paused(bench)
        assert bench.open().acknowledge(job, is_dead=bench.is_dead) == bench.job(job)

    def test_a_paused_job_leases_nothing_after_a_restart(self, bench: Bench) -> None:
        """PAU-05: it stays paused."""
        job = paused(bench)
        assert bench.worker(job).lease() == ()

    def test_a_resumed_job_goes_on_with_what_was_pending(self, bench: Bench) -> None:
        """PAU-03, TGT-05."""
        worker = bench.working(pages=3)
        [first, *_] = worker.claim()
        worker.settle(succeed(first))
        ask(bench.ledger, worker.job, "pause")
        worker.release()
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        bench.ledger.move(worker.job, "resume", actor="ann", because="go on")
        second = bench.worker(worker.job)
        second.lease()
        again = second.claim()
        assert len(again) == 2
        assert first.url not in [here.url for here in again]
        assert {here.attempts for here in again} == {1}


class TestCancelRest:
    def test_the_pending_targets_of_a_cancelled_job_are_cancelled_slice_by_slice(self, bench: Bench) -> None:
        worker = bench.working(pages=5)
        worker.settle(*map(succeed, worker.claim(room=1)))
        worker.release()
        ask(bench.ledger, worker.job, "cancel")
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        assert [bench.ledger.cancel_rest(worker.job, 3) for _ in range(3)] == [3, 1, 0]
        assert bench.counts(worker.job)["cancelled"] == 4
        assert bench.counts(worker.job)["succeeded"] == 1

    def test_the_rest_of_a_running_job_is_not_cancelled(self, bench: Bench) -> None:
        worker = bench.working()
        with pytest.raises(Refused):
            bench.ledger.cancel_rest(worker.job)
        assert bench.counts(worker.job)["cancelled"] == 0


def job_that_is(bench: Bench, status: str) -> int:
    """A job brought to this status by lawful moves."""
    if status == "pending":
        return bench.submitted().id
    if status == "paused":
        return paused(bench)
    worker = bench.working(pages=1)
    if status == "completed":
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.advance(worker.job, worker.control) is not None
    if status == "cancelled":
        ask(bench.ledger, worker.job, "cancel")
    worker.release()
    bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
    assert bench.job(worker.job).status == status
    return worker.job
