"""Going back to a checkpoint (FUT-01, E18): its counts, its rows, and nobody who works on from the undone time."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, hand_back, page, retry
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import IllegalMove, LedgerUnavailable, LostLease, NotFound, Refused
from holdfast.model.bookmark import Bookmark
from holdfast.model.edit import RolledBack

POND = "https://pond.test"
HOUR_MS = 3_600_000


def roll_back(bench: Bench, job: int, number: int = 1) -> RolledBack:
    return bench.ledger.rollback(job, number, actor="ann", is_dead=bench.is_dead)


def begun(bench: Bench) -> Worker:
    """Of six pages two are settled, one of which led to a seventh and out; then checkpoint 1."""
    worker = bench.working(6)
    first, second = worker.claim(2)
    out = bench.external(f"{POND}/early")
    worker.settle(
        page(first, found=(bench.found(f"{MARSH}/newt/1"),), external=(out,)), fail(second), checkpoint="targets"
    )
    return worker


def gone_on(bench: Bench) -> Worker:
    """After checkpoint 1: three more settled, which led to two targets and out; one of those settled, too."""
    worker = begun(bench)
    third, fourth, fifth = worker.claim(3)
    late = (bench.found(f"{MARSH}/newt/2"), bench.found(f"{POND}/toad", index=3))
    worker.settle(page(third, found=late, external=(bench.external(f"{POND}/late"),)), fail(fourth), retry(fifth))
    toad = next(here for here in worker.claim() if here.url == f"{POND}/toad")
    worker.settle(page(toad), checkpoint="targets")
    return worker


def at_checkpoint(bench: Bench, job: int, number: int = 1) -> dict[str, int]:
    """Its counts, with what was in hand as pending."""
    [row] = [row for row in bench.ledger.checkpoints(job) if row.number == number]
    assert row.point is not None
    counts = row.point.counts.seven()
    return {**counts, "pending": counts["pending"] + counts["in_progress"], "in_progress": 0}


def work_to_the_end(bench: Bench, job: int) -> Worker:
    bench.ledger.move(job, "resume", actor="ann", because="go on")
    worker = bench.worker(job)
    worker.lease()
    while hand := worker.claim() or worker.claim(alone=True):
        worker.settle(*(page(here) for here in hand))
    ended = bench.ledger.advance(job, worker.control)
    assert ended is not None
    assert ended.status == "completed"
    return worker


def listed(bench: Bench, job: int, number: int = 1) -> list[list[tuple[str, str | None]]]:
    """What had been settled at a checkpoint, and what had not."""
    [point] = [row.point for row in bench.ledger.checkpoints(job) if row.number == number]
    assert point is not None
    return [
        [(row.url, row.status) for row in bench.ledger.as_of(job, point.commits, settled=settled)]
        for settled in (True, False)
    ]


def urls(bench: Bench, job: int) -> set[str]:
    return {row.url for row in bench.targets(job)}


class TestRollback:
    def test_the_job_is_paused_with_the_counts_of_the_checkpoint(self, bench: Bench) -> None:
        """C12."""
        job = gone_on(bench).job
        wanted = at_checkpoint(bench, job)
        assert bench.counts(job) != wanted
        done = roll_back(bench, job)
        assert bench.counts(job) == wanted == done.counts.seven()
        after = bench.job(job)
        assert (after.status, after.paused_by, after.requested) == ("paused", "user", None)
        assert after.because == "rolled back to checkpoint 1"
        assert bench.ledger.holders(job) == []
        bench.verify(job)

    def test_it_says_what_it_undid(self, bench: Bench) -> None:
        done = roll_back(bench, gone_on(bench).job)
        assert (done.checkpoint, done.requeues, done.drops, done.restores, done.keeps_artifacts) == (1, 2, 2, 0, 2)

    def test_a_dry_run_foretells_it_and_changes_nothing(self, bench: Bench) -> None:
        """C12."""
        job = gone_on(bench).job
        before = bench.job(job), bench.targets(job), bench.probe.entries(job), bench.ledger.checkpoints(job)
        told = bench.ledger.foretell_rollback(job, 1, is_dead=bench.is_dead)
        assert (bench.job(job), bench.targets(job), bench.probe.entries(job), bench.ledger.checkpoints(job)) == before
        assert told == roll_back(bench, job)

    def test_what_was_found_since_is_gone_with_all_that_hung_on_it(self, bench: Bench) -> None:
        job = gone_on(bench).job
        toad = bench.target(job, f"{POND}/toad")
        bench.ledger.label(job, [toad.id], "keep", actor="ann")
        roll_back(bench, job)
        assert urls(bench, job) == {*(f"{MARSH}/frog/{n}" for n in range(1, 7)), f"{MARSH}/newt/1"}
        assert bench.probe.externals(job) == [f"{POND}/early"]
        assert bench.probe.records(toad.id) == []
        assert bench.ledger.find(job, toad.key) is None
        assert len(bench.ledger.results(job)) == 1
        assert len(bench.ledger.pages(job)) == 1

    def test_what_was_settled_since_is_pending_with_the_attempts_it_had(self, bench: Bench) -> None:
        worker = begun(bench)
        [third] = worker.claim(1)
        worker.settle(retry(third), checkpoint="targets")
        [third] = worker.claim(1)
        assert third.attempts == 2
        worker.settle(fail(third))
        roll_back(bench, worker.job, 2)
        row = bench.target(worker.job, third.url)
        assert (row.status, row.attempts, row.code, row.settled_at, row.generation) == ("pending", 1, None, None, 1)
        assert [each.outcome for each in bench.ledger.attempts(row.id)] == ["retry"]
        bench.verify(worker.job)

    def test_a_page_that_was_in_hand_at_the_checkpoint_is_pending_with_its_attempt(self, bench: Bench) -> None:
        worker = bench.working(3)
        first, second, _ = worker.claim()
        worker.settle(page(first), checkpoint="targets")
        assert bench.counts(worker.job)["in_progress"] == 2
        worker.settle(page(second))
        roll_back(bench, worker.job)
        assert bench.counts(worker.job)["pending"] == 2
        assert {row.attempts for row in bench.targets(worker.job) if row.status == "pending"} == {0}
        bench.verify(worker.job)

    def test_worked_again_it_ends_like_a_job_that_nobody_rolled_back(self, bench: Bench) -> None:
        job = gone_on(bench).job
        roll_back(bench, job)
        worker = work_to_the_end(bench, job)
        worker.release()
        assert bench.counts(job)["discovered"] == 7
        assert {row.status for row in bench.targets(job)} == {"succeeded", "failed"}
        bench.verify(job)

    def test_what_was_found_since_can_be_found_again_under_another_id(self, bench: Bench) -> None:
        """Target ids are given once."""
        job = gone_on(bench).job
        given = {row.id for row in bench.targets(job)}
        roll_back(bench, job)
        kept = {row.id for row in bench.targets(job)}
        bench.ledger.move(job, "resume", actor="ann", because="go on")
        worker = bench.worker(job)
        worker.lease()
        [here] = worker.claim(1)
        worker.settle(page(here, found=(bench.found(f"{POND}/toad", index=3),)))
        again = bench.target(job, f"{POND}/toad")
        assert again.id not in given
        assert {row.id for row in bench.targets(job)} == {*kept, again.id}
        bench.verify(job)

    def test_ids_are_given_once_however_often_one_goes_back(self, bench: Bench) -> None:
        job, seen = begun(bench).job, set[int]()
        for _ in range(3):
            bench.ledger.rollback(job, 1, actor="ann", is_dead=bench.is_dead)
            bench.ledger.move(job, "resume", actor="ann", because="go on")
            worker = bench.worker(job)
            worker.lease()
            [here] = worker.claim(1)
            worker.settle(page(here, found=(bench.found(f"{POND}/toad", index=3),)))
            toad = bench.target(job, f"{POND}/toad").id
            assert toad not in seen
            seen.add(toad)
        bench.verify(job)

    def test_a_suspect_whose_try_was_undone_is_tried_before_the_others(self, bench: Bench) -> None:
        """TGT-06: a rollback forgets when it was last tried, so it is the least recently tried one."""
        worker = bench.working(pages=4)
        worker.claim()
        bench.dead.add(worker.owner)
        bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        second = bench.worker(worker.job)
        second.lease()
        second.settle(*(page(here) for here in second.claim(alone=True)), checkpoint="targets")
        bench.clock.advance(1)
        [undone] = second.claim(alone=True)
        second.settle(page(undone))
        roll_back(bench, worker.job)
        bench.ledger.move(worker.job, "resume", actor="ann", because="go on")
        third = bench.worker(worker.job)
        third.lease()
        assert [here.url for here in third.claim(alone=True)] == [undone.url]
        bench.verify(worker.job)

    def test_the_rows_of_other_jobs_are_left_alone(self, bench: Bench) -> None:
        other = bench.working(2, "pond", host=POND)
        job = gone_on(bench).job
        [here] = other.claim(1)
        other.settle(page(here))
        before = bench.targets(other.job), bench.counts(other.job), bench.probe.entries(other.job)
        roll_back(bench, job)
        assert (bench.targets(other.job), bench.counts(other.job), bench.probe.entries(other.job)) == before
        bench.verify(other.job)


class TestFencedByRollback:
    def test_a_late_settle_of_who_worked_it_is_refused(self, bench: Bench) -> None:
        """E18: every epoch is raised, so what is in hand anywhere is lost."""
        worker = gone_on(bench)
        here = next(iter(worker.hand.values()))
        late = worker.batches(page(here))
        roll_back(bench, worker.job)
        before = bench.counts(worker.job)
        assert worker.ledger.settle(worker.job, late).answers[here.chunk].kind == "lost"
        assert bench.counts(worker.job) == before
        assert worker.renew() == ()

    def test_a_late_settle_is_refused_after_the_next_worker_began(self, bench: Bench) -> None:
        worker = gone_on(bench)
        here = next(iter(worker.hand.values()))
        late = worker.batches(page(here))
        job = worker.job
        roll_back(bench, job)
        bench.ledger.move(job, "resume", actor="ann", because="go on")
        successor = bench.worker(job)
        assert all(lease.epoch == 3 for lease in successor.lease())
        assert worker.ledger.settle(job, late).answers[here.chunk].kind == "lost"

    def test_an_idle_chunk_is_fenced_too(self, bench: Bench) -> None:
        """A batch of a lease that was given back long ago finds the epoch raised, not only nobody there."""
        worker = gone_on(bench)
        epochs = {lease.chunk: lease.epoch for lease in worker.leases.values()}
        worker.release()
        roll_back(bench, worker.job)
        entries = [entry for entry in bench.probe.entries(worker.job) if entry.verb == "rollback"]
        assert {entry.chunk: entry.epoch for entry in entries} == {c: epoch + 1 for c, epoch in epochs.items()}

    def test_a_late_plan_is_refused(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(2), done=False)
        [here] = worker.claim(1)
        worker.settle(page(here), checkpoint="targets")
        late = worker.plan_batch([bench.found(f"{MARSH}/newt/1")], cursor=2)
        roll_back(bench, worker.job)
        with pytest.raises(LostLease):
            worker.ledger.enqueue(worker.job, late)

    def test_what_a_dead_worker_held_is_suspect_no_more_than_it_was_then(self, bench: Bench) -> None:
        """A death after the checkpoint is undone with the attempt."""
        worker = gone_on(bench)
        assert worker.hand
        bench.dead.add(worker.owner)
        roll_back(bench, worker.job)
        bench.verify(worker.job)
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job)
        work_to_the_end(bench, worker.job)

    def test_nothing_is_leased_before_it_is_resumed(self, bench: Bench) -> None:
        worker = gone_on(bench)
        roll_back(bench, worker.job)
        assert bench.worker(worker.job).lease() == ()


class TestHistoryOfRollback:
    def test_commit_numbers_go_on(self, bench: Bench) -> None:
        """L6: a number is never given again, and none is missing."""
        worker = gone_on(bench)
        before = bench.probe.entries(worker.job)
        roll_back(bench, worker.job)
        after = bench.probe.entries(worker.job)
        assert [entry for entry in after if entry in before] == before
        chunks = {entry.chunk for entry in after}
        assert {entry.chunk for entry in after if entry.verb == "rollback"} == chunks

    def test_the_event_names_the_checkpoint(self, bench: Bench) -> None:
        worker = gone_on(bench)
        roll_back(bench, worker.job)
        last = [event for event in bench.ledger.history(worker.job)[0] if event.thing == "job"][-1]
        assert (last.verb, last.source, last.target) == ("rollback", "in_progress", "paused")
        assert (last.actor, last.because) == ("ann", "to checkpoint 1")

    def test_later_checkpoints_are_marked_as_undone(self, bench: Bench) -> None:
        job = gone_on(bench).job
        roll_back(bench, job)
        rows = [(row.number, row.undone_by) for row in bench.ledger.checkpoints(job)]
        assert rows == [(3, None), (2, 3), (1, None)]
        newest = bench.ledger.books(job)[2]
        assert newest is not None
        assert (newest.number, newest.reason, newest.counts.seven()) == (3, "rollback", bench.counts(job))

    def test_one_that_was_undone_cannot_be_gone_back_to(self, bench: Bench) -> None:
        job = gone_on(bench).job
        roll_back(bench, job)
        with pytest.raises(Refused, match="checkpoint 2 of marsh was undone by a rollback, which wrote 3"):
            roll_back(bench, job, 2)

    def test_one_can_go_back_again_and_further(self, bench: Bench) -> None:
        worker = bench.working(4)
        for _ in range(3):
            [here] = worker.claim(1)
            worker.settle(page(here), checkpoint="targets")
        for number in (2, 4, 1):
            wanted = at_checkpoint(bench, worker.job, number)
            roll_back(bench, worker.job, number)
            assert bench.counts(worker.job) == wanted
            bench.verify(worker.job)
        assert bench.counts(worker.job)["succeeded"] == 1

    def test_the_lists_of_earlier_checkpoints_stay_as_they_were(self, bench: Bench) -> None:
        worker = gone_on(bench)
        before = listed(bench, worker.job)
        roll_back(bench, worker.job)
        assert listed(bench, worker.job) == before

    def test_a_reader_goes_on_behind_what_it_read(self, bench: Bench) -> None:
        """A bookmark is not moved back: what is fetched again has new commits, and comes again."""
        job = gone_on(bench).job
        first, mark = bench.ledger.fresh(job, Bookmark())
        roll_back(bench, job)
        assert bench.ledger.fresh(job, mark)[0] == []
        work_to_the_end(bench, job)
        again = {each.row.url for each in bench.ledger.fresh(job, mark)[0]}
        assert f"{MARSH}/newt/1" in {each.row.url for each in first} & again
        everything = [each.row.url for each in bench.ledger.fresh(job, Bookmark())[0]]
        assert sorted(everything) == sorted(row.url for row in bench.targets(job) if row.status == "succeeded")


class TestWhatStoodBeside:
    def test_a_plan_goes_on_where_it_was(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.leases[worker.plan.chunk] = bench.ledger.enqueue(
            worker.job, worker.plan_batch(bench.found_pages(2), done=False, trail=b"two")
        )
        [here] = worker.claim(1)
        worker.settle(page(here), checkpoint="targets")
        more = bench.found_pages(4)[2:]
        bench.ledger.enqueue(worker.job, worker.plan_batch(more, cursor=2, done=True, trail=b"four"))
        assert bench.job(worker.job).plan_done
        done = roll_back(bench, worker.job)
        assert (done.drops, bench.ledger.plan(worker.job)) == (2, (2, False, b"two"))
        assert not bench.job(worker.job).plan_done
        bench.verify(worker.job)

    def test_what_was_retried_since_has_failed_again(self, bench: Bench) -> None:
        """The before-images are what the targets were."""
        worker = begun(bench)
        worker.release()
        bench.ledger.request(worker.job, "pause", actor="ann", because="enough")
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        bench.ledger.reopen(worker.job, "retry", actor="ann", because="again")
        assert bench.ledger.walk(worker.job).requeued == 1
        bench.ledger.move(worker.job, "resume", actor="ann", because="go on")
        worker.lease()
        hand = worker.claim()
        worker.settle(*(page(here) for here in hand))
        done = roll_back(bench, worker.job)
        assert (done.restores, done.requeues) == (1, 5)
        row = bench.target(worker.job, f"{MARSH}/frog/2")
        assert (row.status, row.code, row.generation, row.attempts) == ("failed", "http_404", 1, 1)
        assert bench.probe.undone(row.id) == []
        bench.verify(worker.job)

    def test_what_was_rescanned_twice_is_what_it_was_first_whatever_the_clock_says(self, bench: Bench) -> None:
        """E13: an hour back between two rescans puts the newer image at the earlier time."""
        worker = bench.working(2)
        worker.settle(*(page(here) for here in worker.claim()), checkpoint="targets")
        before = listed(bench, worker.job)
        for hours_back in (0, 1):
            bench.ledger.advance(worker.job, worker.control)
            worker.release()
            bench.clock.set_wall(bench.clock.wall_ms() - hours_back * HOUR_MS)
            bench.clock.advance(1)
            bench.ledger.reopen(worker.job, "rescan", actor="ann", because="again")
            bench.ledger.walk(worker.job)
            worker.lease()
            worker.settle(*(page(here) for here in worker.claim()))
        assert {row.generation for row in bench.targets(worker.job)} == {3}
        assert listed(bench, worker.job) == before
        roll_back(bench, worker.job)
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job)
        assert {row.generation for row in bench.targets(worker.job)} == {1}
        assert listed(bench, worker.job) == before
        bench.verify(worker.job)

    def test_what_was_found_and_rescanned_since_is_gone_and_the_job_can_end(self, bench: Bench) -> None:
        """The largest id ever given stays in the ledger and is nobody's: no page of this job stands again under it."""
        worker = begun(bench)
        [third] = worker.claim(1)
        worker.settle(page(third, found=(bench.found(f"{MARSH}/newt/2"),)))
        worker.settle(*(page(here) for here in worker.claim()))
        assert bench.ledger.advance(worker.job, worker.control) is not None
        worker.release()
        bench.ledger.reopen(worker.job, "rescan", actor="ann", because="again")
        bench.ledger.walk(worker.job)
        worker.lease()
        worker.settle(*(page(here) for here in worker.claim()))
        told = bench.ledger.foretell_rollback(worker.job, 1, is_dead=bench.is_dead)
        assert told == roll_back(bench, worker.job)
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job) == told.counts.seven()
        bench.verify(worker.job)
        work_to_the_end(bench, worker.job)
        assert urls(bench, worker.job) == {*(f"{MARSH}/frog/{n}" for n in range(1, 7)), f"{MARSH}/newt/1"}
        bench.verify(worker.job)

    def test_what_a_claim_left_out_and_an_include_put_back_is_what_it_was(self, bench: Bench) -> None:
        """Its images lie in two chunks, whose numbers say nothing of each other; nor does a clock that went back."""
        worker = bench.working(2)
        [here] = worker.claim(1)
        bench.ledger.exclude(worker.job, "/frog/1", actor="ann")
        worker.settle(hand_back(here))
        worker.claim()
        assert bench.target(worker.job, here.url).status == "skipped"
        worker.settle(*(page(each) for each in worker.hand.values()), checkpoint="targets")
        before = listed(bench, worker.job)
        bench.clock.set_wall(bench.clock.wall_ms() + HOUR_MS)
        bench.ledger.include(worker.job, 1, actor="ann")
        assert bench.ledger.walk(worker.job).requeued == 1
        bench.clock.set_wall(bench.clock.wall_ms() - HOUR_MS)
        bench.clock.advance(10)
        [here] = worker.claim(1)
        bench.ledger.exclude(worker.job, "/frog/*", actor="ann")
        worker.settle(hand_back(here))
        assert worker.claim() == []
        assert bench.target(worker.job, here.url).status == "skipped"
        assert len(bench.probe.undone(here.id)) == 3
        assert listed(bench, worker.job) == before
        roll_back(bench, worker.job)
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job)
        assert listed(bench, worker.job) == before
        bench.verify(worker.job)

    def test_a_claim_before_the_clock_went_back_was_before_the_rollback(self, bench: Bench) -> None:
        """E13: `verify` does not take it for a claim of a job that stands still."""
        worker = begun(bench)
        worker.settle(*(page(here) for here in worker.claim(1)))
        worker.claim(1)
        bench.clock.set_wall(bench.clock.wall_ms() - HOUR_MS)
        bench.ledger.request(worker.job, "pause", actor="ann", because="enough")
        bench.verify(worker.job)
        worker.release()
        bench.verify(worker.job)
        roll_back(bench, worker.job)
        bench.verify(worker.job)

    def test_a_rescan_that_was_under_way_is_under_way_again(self, bench: Bench) -> None:
        worker = bench.working(4)
        worker.settle(*(page(here) for here in worker.claim()))
        bench.ledger.advance(worker.job, worker.control)
        worker.release()
        bench.ledger.reopen(worker.job, "rescan", actor="ann", because="again")
        bench.ledger.walk(worker.job, limit=2)
        worker.lease()
        first, _ = worker.claim()
        worker.settle(page(first), checkpoint="targets")
        while bench.ledger.walk(worker.job, limit=2).left:
            continue
        worker.settle(*(page(here) for here in worker.claim()))
        roll_back(bench, worker.job, 2)
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job, 2)
        assert bench.ledger.walking(worker.job) == "rescan"
        bench.verify(worker.job)
        assert bench.ledger.walk(worker.job).requeued == 2
        work_to_the_end(bench, worker.job)
        assert {row.generation for row in bench.targets(worker.job)} == {2}
        bench.verify(worker.job)

    def test_a_rescan_that_was_asked_for_since_is_not(self, bench: Bench) -> None:
        worker = bench.working(2)
        worker.settle(*(page(here) for here in worker.claim()), checkpoint="targets")
        bench.ledger.advance(worker.job, worker.control)
        worker.release()
        bench.ledger.reopen(worker.job, "rescan", actor="ann", because="again")
        bench.ledger.walk(worker.job, limit=1)
        roll_back(bench, worker.job)
        assert bench.ledger.walking(worker.job) is None
        assert (bench.job(worker.job).generation, bench.counts(worker.job)["succeeded"]) == (1, 2)
        work_to_the_end(bench, worker.job)
        bench.verify(worker.job)

    def test_an_exclusion_that_was_added_since_is_dropped(self, bench: Bench) -> None:
        worker = begun(bench)
        made = bench.ledger.exclude(worker.job, "/frog/*", actor="ann")
        bench.ledger.sweep(worker.job, made.n)
        assert bench.counts(worker.job)["skipped"] == 4
        done = roll_back(bench, worker.job)
        assert (done.drops_exclusions, done.requeues) == ((1,), 4)
        [known] = bench.ledger.exclusions(worker.job)
        assert known.removed_by == "ann"
        assert bench.counts(worker.job) == at_checkpoint(bench, worker.job)
        bench.verify(worker.job)
        work_to_the_end(bench, worker.job)
        assert bench.counts(worker.job)["skipped"] == 0

    def test_an_exclusion_that_was_removed_since_stands_again(self, bench: Bench) -> None:
        worker = bench.working(4)
        made = bench.ledger.exclude(worker.job, "/frog/3", actor="ann")
        bench.ledger.sweep(worker.job, made.n)
        [here] = worker.claim(1)
        worker.settle(page(here), checkpoint="targets")
        bench.ledger.include(worker.job, made.n, actor="ann")
        assert bench.ledger.walk(worker.job).requeued == 1
        done = roll_back(bench, worker.job)
        assert (done.restores_exclusions, done.restores) == ((1,), 1)
        assert bench.target(worker.job, f"{MARSH}/frog/3").rule == "exclusion 1"
        bench.verify(worker.job)
        work_to_the_end(bench, worker.job)
        assert bench.counts(worker.job)["skipped"] == 1


class TestRefusedRollback:
    def test_a_number_that_is_not_there(self, bench: Bench) -> None:
        worker = begun(bench)
        with pytest.raises(NotFound, match="marsh has no checkpoint 9: its newest is 1"):
            roll_back(bench, worker.job, 9)
        with pytest.raises(NotFound, match="pond has no checkpoint 1: it has none yet"):
            roll_back(bench, bench.submitted("pond").id)

    def test_a_cancelled_job_stays_cancelled(self, bench: Bench) -> None:
        worker = begun(bench)
        worker.release()
        bench.ledger.request(worker.job, "cancel", actor="ann", because="enough")
        bench.ledger.acknowledge(worker.job, is_dead=bench.is_dead)
        with pytest.raises(IllegalMove):
            roll_back(bench, worker.job)

    def test_somebody_elses_move_in_between(self, bench: Bench) -> None:
        worker = gone_on(bench)
        version = bench.job(worker.job).version
        roll_back(bench, worker.job)
        with pytest.raises(Refused, match="was changed meanwhile"):
            bench.ledger.rollback(worker.job, 1, actor="ann", is_dead=bench.is_dead, version=version)

    @pytest.mark.parametrize("action", ["raise", "unknown"])
    def test_cut_short_it_has_happened_or_not(self, bench: Bench, action: str) -> None:
        worker = gone_on(bench)
        before, wanted = bench.counts(worker.job), at_checkpoint(bench, worker.job)
        point = "rollback.before_commit" if action == "raise" else "rollback.after_commit"
        faults.arm(f"{point}:1:{action}")
        with pytest.raises((faults.InjectedFault, LedgerUnavailable)):
            roll_back(bench, worker.job)
        faults.arm("")
        assert bench.counts(worker.job) == (before if action == "raise" else wanted)
