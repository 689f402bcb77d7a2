"""Chunks with names: a job is cut as its kind says, and asked for again with more names it gets more chunks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.bench import MARSH, Bench
from conformance.rolling_back import roll_back
from conformance.verdicts import page
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import LedgerUnavailable, Refused
from holdfast.model.job import Grown, Job

FROGS = ("frog", "toad")
MORE = (*FROGS, "newt")


def submitted(bench: Bench) -> Job:
    spec = replace(bench.spec(), params={"words": list(FROGS)}, chunks=FROGS, planned_total=2)
    return bench.ledger.submit(spec)[0]


def planned(bench: Bench) -> Worker:
    """One target in each of two named chunks; that of `frog` is done, and nobody is at work."""
    job = submitted(bench)
    bench.ledger.move(job.id, "start", actor="user", because="asked for")
    worker = bench.worker(job.id)
    worker.lease()
    worker.enqueue(bench.found(f"{MARSH}/frog", index=0), bench.found(f"{MARSH}/toad", index=1))
    frog = next(here for here in worker.claim() if here.url.endswith("/frog"))
    worker.settle(page(frog), checkpoint="targets")
    worker.release()
    return worker


def grown(bench: Bench, job: int, names: tuple[str, ...] = MORE) -> Job:
    params = {"words": list(names)}
    return bench.ledger.rescope(bench.job(job), params, actor="ann", because="more", grown=Grown(names, len(names)))


class TestNamedChunks:
    def test_a_job_has_the_chunks_that_its_kind_names(self, bench: Bench) -> None:
        job = submitted(bench)
        assert tuple(bench.ledger.chunk_names(job.id).values()) == FROGS
        assert list(bench.ledger.chunk_names(bench.submitted("other").id).values()) == [""] * 16
        bench.ledger.move(job.id, "start", actor="user", because="asked for")
        worker = bench.worker(job.id)
        worker.lease()
        assert [lease.index for lease in worker.work] == [0, 1]

    def test_more_names_are_more_chunks_and_the_plan_goes_on_behind_its_cursor(self, bench: Bench) -> None:
        worker = planned(bench)
        after = grown(bench, worker.job)
        assert (after.plan_done, after.planned_total, after.params) == (False, 3, {"words": list(MORE)})
        assert tuple(bench.ledger.chunk_names(worker.job).values()) == MORE
        assert bench.ledger.walking(worker.job) is None  # there is no scope to judge found URLs by
        worker = bench.worker(worker.job)
        worker.lease()
        assert [lease.index for lease in worker.work] == [0, 1, 2]
        worker.enqueue(bench.found(f"{MARSH}/newt", index=2), cursor=2)
        while hand := worker.claim():
            worker.settle(*map(page, hand), checkpoint="targets")
        assert bench.counts(worker.job)["succeeded"] == 3
        ended = bench.ledger.advance(worker.job, worker.control)
        assert ended is not None
        assert ended.status == "completed"
        bench.verify(worker.job)

    def test_asked_for_again_after_the_answer_was_lost_nothing_is_doubled(self, bench: Bench) -> None:
        job = planned(bench).job
        known = bench.job(job)
        more, params = Grown(MORE, 3), {"words": list(MORE)}
        faults.arm("rescope.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            bench.ledger.rescope(known, params, actor="ann", because="more", grown=more)
        bench.ledger.rescope(known, params, actor="ann", because="more", grown=more)
        assert tuple(bench.ledger.chunk_names(job).values()) == MORE
        bench.verify(job)

    @pytest.mark.parametrize("names", [("toad", "frog", "newt"), ("frog", "newt")])
    def test_a_chunk_keeps_its_place_and_none_is_taken_away(self, bench: Bench, names: tuple[str, ...]) -> None:
        job = planned(bench).job
        before = bench.job(job)
        with pytest.raises(Refused, match="keeps its chunks in their order: frog toad"):
            grown(bench, job, names)
        assert bench.job(job) == before

    def test_rolled_back_behind_them_added_chunks_are_planned_again(self, bench: Bench) -> None:
        worker = planned(bench)
        grown(bench, worker.job)
        worker = bench.worker(worker.job)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/newt", index=2), cursor=2)
        while hand := worker.claim():
            worker.settle(*map(page, hand))
        roll_back(bench, worker.job)
        assert bench.counts(worker.job)["succeeded"] == 1
        assert sorted(row.url for row in bench.targets(worker.job)) == [f"{MARSH}/frog", f"{MARSH}/toad"]
        assert not bench.job(worker.job).plan_done
        bench.verify(worker.job)
