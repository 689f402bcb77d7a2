"""Submitting, setting aside, amending, runs: what makes a job, and what keeps two jobs apart (JOB-01, JOB-11)."""

from __future__ import annotations

import re

import pytest

from conformance.bench import Bench
from holdfast import faults
from holdfast.errors import LedgerUnavailable, NotFound, Refused
from holdfast.model.job import Options


class TestSubmit:
    def test_a_submitted_job_is_pending_and_has_an_id_of_its_own(self, bench: Bench) -> None:
        """JOB-01."""
        job, is_new = bench.ledger.submit(bench.spec())
        assert is_new
        assert (job.status, job.requested, job.run, job.generation) == ("pending", None, 0, 1)
        assert (job.phase, job.plan_done, job.health) == ("crawling", False, None)
        assert re.fullmatch(r"J-[0-9a-f]{4,}", job.uid)
        assert job.created_at == bench.clock.wall_ms()

    def test_ids_are_unique(self, bench: Bench) -> None:
        jobs = [bench.submitted(f"marsh {n}") for n in range(20)]
        assert len({job.uid for job in jobs}) == 20

    def test_the_params_and_options_come_back_as_given(self, bench: Bench) -> None:
        job = bench.submitted()
        assert bench.ledger.job(job.uid) == job
        assert (job.params, job.options) == (bench.spec().params, Options())

    def test_the_same_identity_is_the_same_job(self, bench: Bench) -> None:
        """JOB-11."""
        first = bench.submitted("marsh", identity="site marsh")
        again, is_new = bench.open().submit(bench.spec("pond", identity="site marsh"))
        assert (again, is_new) == (first, False)
        assert len(bench.ledger.jobs()) == 1

    def test_another_owner_with_the_same_identity_has_a_job_of_its_own(self, bench: Bench) -> None:
        """JOB-11."""
        first = bench.submitted("marsh", identity="x", owner="ann")
        second = bench.submitted("pond", identity="x", owner="ben")
        assert first.id != second.id

    def test_a_taken_name_gets_a_number(self, bench: Bench) -> None:
        names = [bench.submitted("marsh", identity=f"site {n}").name for n in range(3)]
        assert names == ["marsh", "marsh-2", "marsh-3"]

    def test_a_new_job_has_sixteen_work_chunks_and_one_each_for_control_and_plan(self, bench: Bench) -> None:
        """FRO-12."""
        worker = bench.worker(bench.started().id)
        leases = worker.lease(want=99)
        assert [(item.kind, item.index) for item in leases] == [
            ("control", 0),
            ("plan", 0),
            *(("work", index) for index in range(16)),
        ]

    def test_the_plan_of_a_new_job_stands_at_nothing(self, bench: Bench) -> None:
        assert bench.ledger.plan(bench.submitted().id) == (0, False, b"")

    def test_submitting_is_the_first_line_of_history(self, bench: Bench) -> None:
        job = bench.submitted()
        assert bench.events(job.id) == [("submit", "", "pending")]
        assert bench.ledger.submit(bench.spec())[1] is False
        assert len(bench.events(job.id)) == 1

    def test_a_submit_whose_answer_was_lost_is_found_again(self, bench: Bench) -> None:
        faults.arm("submit.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.submit(bench.spec())
        _, is_new = bench.ledger.submit(bench.spec())
        assert not is_new


class TestSetAside:
    def test_a_job_set_aside_frees_its_identity_and_its_name(self, bench: Bench) -> None:
        old = bench.submitted("marsh")
        aside, is_ours = bench.ledger.set_aside(old)
        assert (aside.name, aside.identity, is_ours) == ("marsh~1", None, True)
        fresh, is_new = bench.ledger.submit(bench.spec("marsh"))
        assert is_new
        assert fresh.name == "marsh"

    def test_jobs_set_aside_are_numbered(self, bench: Bench) -> None:
        names = [bench.ledger.set_aside(bench.submitted("marsh"))[0].name for _ in range(3)]
        assert names == ["marsh~1", "marsh~2", "marsh~3"]

    def test_of_two_who_set_the_same_job_aside_the_second_finds_it_done(self, bench: Bench) -> None:
        job = bench.submitted("marsh")
        first, _ = bench.ledger.set_aside(job)
        assert bench.ledger.set_aside(job) == (first, False)
        assert [verb for verb, _, _ in bench.events(job.id)].count("set_aside") == 1

    def test_a_job_set_aside_may_be_set_aside_again_by_who_knows_that(self, bench: Bench) -> None:
        first, _ = bench.ledger.set_aside(bench.submitted("marsh"))
        second, is_ours = bench.ledger.set_aside(first)
        assert (second.name, is_ours) == ("marsh~2", True)

    def test_the_rows_of_a_job_set_aside_stay(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        bench.ledger.set_aside(bench.job(worker.job))
        assert bench.counts(worker.job)["pending"] == 2


class TestAmend:
    def test_amended_options_are_kept_and_told(self, bench: Bench) -> None:
        job = bench.started()
        slower = Options(delay_ms=2000)
        assert bench.ledger.amend(job, options=slower, actor="ann", because="too fast").options == slower
        assert bench.job(job.id).options == slower
        [event] = [e for e in bench.ledger.history(job.id)[0] if e.verb == "amend"]
        assert (event.actor, event.because, event.target) == ("ann", "too fast", "in_progress")

    def test_of_two_who_change_the_same_the_second_is_refused_and_changes_nothing(self, bench: Bench) -> None:
        job = bench.started()
        bench.ledger.amend(job, options=Options(delay_ms=2000), actor="ann", because="too fast")
        before = bench.job(job.id)
        with pytest.raises(Refused, match="changed by another process"):
            bench.ledger.amend(job, options=Options(concurrency=2), actor="ben", because="too many")
        assert (bench.job(job.id), bench.events(job.id)[-1][0]) == (before, "amend")
        bench.ledger.amend(before, options=Options(delay_ms=2000, concurrency=2), actor="ben", because="too many")
        assert bench.job(job.id).options == Options(delay_ms=2000, concurrency=2)

    def test_changed_params_keep_the_options_that_somebody_changed_meanwhile_and_the_other_way_round(
        self, bench: Bench
    ) -> None:
        job = bench.started()
        bench.ledger.amend(job, options=Options(delay_ms=2000), actor="ann", because="too fast")
        params = {**job.params, "scope": "host", "include": [], "exclude": ["/toad/*"], "max_depth": None}
        after = bench.ledger.rescope(job, params, actor="ben", because="no toads")
        assert (after.options, after.params) == (Options(delay_ms=2000), params)
        with pytest.raises(Refused):
            bench.ledger.rescope(job, {**params, "exclude": ["/newt/*"]}, actor="cat", because="no newts")
        assert bench.job(job.id).params == params

    def test_moves_and_requests_in_between_are_no_matter(self, bench: Bench) -> None:
        job = bench.started()
        bench.ledger.request(job.id, "pause", actor="ann", because="tea")
        assert bench.ledger.amend(job, options=Options(delay_ms=9), actor="ben", because="faster").options.delay_ms == 9

    def test_an_amendment_whose_answer_was_lost_is_repeated_and_told_once(self, bench: Bench) -> None:
        job = bench.started()
        first, after = (
            bench.ledger.amend(job, options=Options(delay_ms=9), actor="ben", because="faster") for _ in range(2)
        )
        assert first == after
        assert after.version == job.version + 1
        assert [verb for verb, _, _ in bench.events(job.id)].count("amend") == 1


class TestRuns:
    def test_runs_are_numbered_from_one(self, bench: Bench) -> None:
        job = bench.started()
        assert bench.ledger.open_run(job.id, mode="full", trigger="cli") == 1
        assert bench.ledger.open_run(job.id, mode="resume", trigger="cli") == 2
        assert bench.job(job.id).run == 2

    def test_a_run_that_was_left_open_is_closed_as_failed(self, bench: Bench) -> None:
        job = bench.started()
        for _ in range(2):
            bench.ledger.open_run(job.id, mode="full", trigger="cli")
        assert bench.probe.runs(job.id) == [(1, "failed", True), (2, "in_progress", False)]


class TestUnknownJobs:
    def test_a_job_that_is_not_there_is_not_found(self, bench: Bench) -> None:
        with pytest.raises(NotFound):
            bench.ledger.move(999, "start", actor="user", because="")
        with pytest.raises(NotFound):
            bench.ledger.books(999)
