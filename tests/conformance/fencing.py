"""The fence and the key: repeated settles, zombies, and batches that changed on the way (L5, E4, E8)."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, succeed
from conformance.worker import Worker
from holdfast.errors import BatchMismatch
from holdfast.model.outcome import Batch
from holdfast.model.target import Claimed


class TestKey:
    def test_a_repeated_settle_is_answered_and_not_stored_again(self, bench: Bench) -> None:
        """E8."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        batches = worker.batches(succeed(here, found=(bench.found(f"{MARSH}/toad"),)))
        first = worker.send(batches)
        entries = bench.probe.entries(worker.job)
        again = worker.send(batches)
        assert (first.answers[here.chunk].kind, again.answers[here.chunk].kind) == ("settled", "replayed")
        assert first.answers[here.chunk].no == again.answers[here.chunk].no
        assert bench.probe.entries(worker.job) == entries
        assert len(bench.ledger.history(worker.job, target=here.id)[1]) == 1

    def test_a_late_repetition_answers_the_present_number(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        batches = worker.batches(succeed(first))
        worker.send(batches)
        worker.settle(succeed(second))
        answer = bench.ledger.settle(worker.job, batches).answers[first.chunk]
        assert (answer.kind, answer.no) == ("replayed", worker.leases[first.chunk].no)

    def test_a_repetition_after_the_lease_went_to_another_is_still_known(self, bench: Bench) -> None:
        """Epoch first, a committed settle would look like a lost lease."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        batches = worker.batches(succeed(here))
        worker.send(batches)
        take_over(bench, worker)
        assert worker.send(batches).answers[here.chunk].kind == "replayed"

    def test_a_repetition_with_other_contents_is_refused(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        key = worker.batch(first.chunk)
        worker.settle(succeed(first))
        other = Batch.freeze(
            chunk=key.chunk, epoch=key.epoch, no=key.no, worker="w", verdicts=(succeed(first), succeed(second))
        )
        with pytest.raises(BatchMismatch):
            worker.send([other])
        assert bench.target(worker.job, second.url).status == "in_progress"

    def test_a_mismatch_in_one_chunk_has_no_effect_on_the_others(self, bench: Bench) -> None:
        worker, here, there = two_chunks(bench)
        stored = worker.batch(here.chunk, succeed(here))
        worker.send([stored])
        changed = Batch.freeze(chunk=here.chunk, epoch=stored.epoch, no=stored.no, worker="w", verdicts=())
        with pytest.raises(BatchMismatch):
            worker.send([changed, worker.batch(there.chunk, succeed(there))])
        assert bench.target(worker.job, there.url).status == "in_progress"

    def test_a_replayed_chunk_gets_no_claim(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        batches = worker.batches(succeed(here))
        worker.send(batches)
        settled = worker.send(batches, worker.wish())
        assert settled.claimed == ()
        assert bench.counts(worker.job)["in_progress"] == 0


class TestFence:
    def test_a_zombies_settle_is_lost_and_changes_nothing(self, bench: Bench) -> None:
        """E4, L5."""
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(fail(here))
        heir = take_over(bench, zombie)
        assert zombie.send(batches).answers[here.chunk].kind == "lost"
        assert bench.target(zombie.job, here.url).status == "pending"
        heir.settle(*map(succeed, heir.claim(alone=True)))
        assert bench.target(zombie.job, here.url).status == "succeeded"

    def test_a_zombie_cannot_settle_what_its_heir_holds(self, bench: Bench) -> None:
        """Held again, under another epoch: "if still in progress" alone would let it through."""
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(fail(here))
        heir = take_over(bench, zombie)
        [again] = heir.claim(alone=True)
        assert again.id == here.id
        assert zombie.send(batches).answers[here.chunk].kind == "lost"
        assert bench.target(zombie.job, here.url).status == "in_progress"

    def test_a_zombie_is_fenced_though_nobody_took_its_chunk(self, bench: Bench) -> None:
        """Rescued, and idle since: the epoch is the old one, and the hold is over all the same."""
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(succeed(here))
        bench.clock.advance(30)
        bench.ledger.rescue(zombie.job, is_dead=bench.is_dead)
        assert zombie.send(batches).answers[here.chunk].kind == "lost"
        assert bench.target(zombie.job, here.url).status == "pending"

    def test_after_a_release_nothing_more_can_be_settled(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        batches = worker.batches(succeed(here))
        worker.release()
        assert worker.ledger.settle(worker.job, batches).answers[here.chunk].kind == "lost"

    def test_a_batch_that_skips_a_number_is_lost(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        lease = worker.leases[here.chunk]
        ahead = Batch.freeze(
            chunk=here.chunk, epoch=lease.epoch, no=lease.no + 2, worker="w", verdicts=(succeed(here),)
        )
        assert bench.ledger.settle(worker.job, [ahead]).answers[here.chunk].kind == "lost"
        assert bench.target(worker.job, here.url).status == "in_progress"

    def test_a_batch_under_an_epoch_that_never_was_is_lost(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        lease = worker.leases[here.chunk]
        forged = Batch.freeze(
            chunk=here.chunk, epoch=lease.epoch + 1, no=lease.no + 1, worker="w", verdicts=(succeed(here),)
        )
        assert bench.ledger.settle(worker.job, [forged]).answers[here.chunk].kind == "lost"
        assert bench.target(worker.job, here.url).status == "in_progress"

    def test_a_lost_chunk_gets_no_claim(self, bench: Bench) -> None:
        zombie = bench.working(pages=1)
        take_over(bench, zombie)
        settled = zombie.send([], zombie.wish())
        assert {answer.kind for answer in settled.answers.values()} == {"lost"}
        assert settled.claimed == ()

    def test_a_zombie_writes_no_checkpoint(self, bench: Bench) -> None:
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(succeed(here))
        take_over(bench, zombie)
        assert zombie.send(batches, checkpoint="targets").checkpoint is None
        assert bench.ledger.books(zombie.job)[2] is None


def take_over(bench: Bench, worker: Worker) -> Worker:
    """The worker's leases lapse, and another one takes them all."""
    bench.clock.advance(31)
    heir = bench.worker(worker.job)
    assert len(heir.lease()) == 18
    return heir


def two_chunks(bench: Bench) -> tuple[Worker, Claimed, Claimed]:
    """A worker with one target in hand in each of two chunks."""
    worker = bench.worker(bench.started().id)
    worker.lease()
    worker.enqueue(bench.found(f"{MARSH}/a", index=0), bench.found(f"{MARSH}/b", index=1))
    here, there = sorted(worker.claim(), key=lambda each: each.url)
    return worker, here, there
