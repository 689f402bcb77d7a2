"""The interleavings that a review of the design found (g 1-6, 9, 10), each played through on two connections.

g 7 is the engine's cache of keys and g 8 the spool: neither is the ledger's.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.bench import MARSH, Bench
from conformance.fencing import take_over, two_chunks
from conformance.verdicts import succeed
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import BatchMismatch, LedgerUnavailable, LostLease

LINKS = 12
ROUNDS_MAX = 200


class TestRaces:
    def test_race_g1_acked_not_stored(self, bench: Bench) -> None:
        """A batch that grew before it was repeated is refused; frozen, it is acked once and holds what was sent."""
        worker = bench.working(pages=4)
        first, second, *late = worker.claim()
        frozen = worker.batch(first.chunk, succeed(first), succeed(second))
        faults.arm("settle.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            worker.send([frozen])
        grown = worker.batch(first.chunk, *map(succeed, [first, second, *late]))
        with pytest.raises(BatchMismatch):
            worker.send([grown])
        assert worker.send([frozen]).answers[first.chunk].kind == "replayed"
        assert bench.counts(worker.job)["succeeded"] == 2
        worker.settle(*map(succeed, late))
        assert bench.counts(worker.job)["succeeded"] == 4

    def test_race_g2_held_for_ever(self, bench: Bench) -> None:
        """A claim whose answer was lost is adopted, with the number that it took."""
        worker = bench.working(pages=2)
        faults.arm("claim.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            worker.claim()
        assert worker.claim() == []
        adopted = worker.adopt()
        assert [here.attempts for here in adopted] == [1, 1]
        assert {answer.kind for answer in worker.settle(*map(succeed, adopted)).answers.values()} == {"settled"}
        assert bench.ledger.advance(worker.job, worker.control) is not None

    def test_race_g3_one_lost_chunk_spoils_not_the_group(self, bench: Bench) -> None:
        """Of a settle over two chunks, one is lost: the other one is stored, and each is answered for itself."""
        worker, here, there = two_chunks(bench)
        batches = worker.batches(succeed(here), succeed(there))
        bench.clock.advance(31)
        bench.worker(worker.job).lease(want=1)
        settled = worker.send(batches)
        assert [settled.answers[each.chunk].kind for each in (here, there)] == ["lost", "settled"]
        assert bench.target(worker.job, here.url).status == "pending"
        assert bench.target(worker.job, there.url).status == "succeeded"

    def test_race_g4_a_zombie_leaves_no_entry_row(self, bench: Bench) -> None:
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(succeed(here))
        take_over(bench, zombie)
        before = bench.probe.entries(zombie.job)
        for _ in range(2):
            assert zombie.send(batches).answers[here.chunk].kind == "lost"
        assert bench.probe.entries(zombie.job) == before

    def test_race_g4_a_zombie_of_a_rescued_chunk_is_lost_and_not_a_mismatch(self, bench: Bench) -> None:
        """The rescue took the very number that the zombie's batch was frozen under."""
        zombie = bench.working(pages=1)
        [here] = zombie.claim()
        batches = zombie.batches(succeed(here))
        bench.clock.advance(31)
        bench.ledger.rescue(zombie.job, is_dead=bench.is_dead)
        before = bench.probe.entries(zombie.job)
        assert before[-1].no >= 1
        assert zombie.send(batches).answers[here.chunk].kind == "lost"
        assert bench.probe.entries(zombie.job) == before

    def test_race_g5_no_claim_after_an_acked_pause(self, bench: Bench) -> None:
        """Settling and pausing at once: whatever was claimed, was claimed before the pause was acked."""
        worker = bench.working(pages=40)
        worker.claim(room=4)
        other = bench.open()

        def pause() -> int:
            other.request(worker.job, "pause", actor="ann", because="enough")
            return claims_so_far(bench, worker)

        with ThreadPoolExecutor(2) as pool:
            asked = pool.submit(pause)
            for _ in range(8):
                worker.settle(*map(succeed, list(worker.hand.values())), wish=worker.wish(room=4))
            at_the_ack = asked.result()
        assert claims_so_far(bench, worker) <= at_the_ack
        assert worker.claim() == []

    def test_race_g6_lost_wake_up(self, bench: Bench) -> None:
        """Two workers find links into each other's chunks at once: no ready target is left asleep."""
        first = bench.worker(bench.started().id)
        first.lease(want=8)
        second = bench.worker(first.job)
        second.lease()
        seeds = [bench.found(f"{MARSH}/{side}/0", index=index) for side, index in (("a", 0), ("b", 8))]
        first.enqueue(*seeds)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda pair: work_and_link(bench, *pair), [(first, 8), (second, 0)]))
        for worker in (first, second):
            drain(bench, worker)
        assert bench.counts(first.job)["pending"] == 0
        assert bench.counts(first.job)["succeeded"] == bench.counts(first.job)["discovered"] > 2
        assert bench.ledger.advance(first.job, first.control) is not None

    def test_race_g9_a_planner_cannot_move_a_cursor_that_moved(self, bench: Bench) -> None:
        """Two planners over one cursor: the one that lost its lease stores neither targets nor cursor."""
        old = bench.worker(bench.started().id)
        old.lease()
        old.enqueue(*bench.found_pages(2), done=False)
        stale = old.plan_batch([bench.found(f"{MARSH}/old")], cursor=2, done=False)
        heir = take_over(bench, old)
        heir.enqueue(bench.found(f"{MARSH}/new"), cursor=2)
        with pytest.raises(LostLease):
            bench.ledger.enqueue(old.job, stale)
        assert bench.ledger.plan(old.job)[:2] == (3, True)
        assert f"{MARSH}/old" not in [row.url for row in bench.targets(old.job)]

    def test_race_g10_a_foreign_link_lands_in_a_drained_chunk(self, bench: Bench) -> None:
        """A chunk with nothing left is idle, not completed: a link of another chunk wakes it."""
        first = bench.worker(bench.started().id)
        first.lease(want=8)
        second = bench.worker(first.job)
        second.lease()
        first.enqueue(bench.found(f"{MARSH}/a", index=0))
        assert second.send([], second.wish()).next_due_ms is None
        [here] = first.claim()
        first.settle(succeed(here, found=(bench.found(f"{MARSH}/b", index=12),)))
        assert bench.ledger.advance(first.job, first.control) is None
        assert [there.url for there in second.claim()] == [f"{MARSH}/b"]

    def test_race_two_leases_at_once_share_the_chunks(self, bench: Bench) -> None:
        workers = [bench.worker(bench.started().id)]
        workers += [bench.worker(workers[0].job) for _ in range(3)]
        with ThreadPoolExecutor(4) as pool:
            taken = [item.chunk for leases in pool.map(lambda w: w.lease(want=5), workers) for item in leases]
        assert len(taken) == len(set(taken)) == 18

    def test_race_the_same_settle_twice_at_once_is_stored_once(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        batches = worker.batches(*map(succeed, worker.claim()))
        other = bench.open()
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda ledger: ledger.settle(worker.job, batches), [worker.ledger, other]))
        kinds = sorted(next(iter(answer.answers.values())).kind for answer in answers)
        assert kinds == ["replayed", "settled"]

    def test_race_two_submits_of_one_identity_at_once_make_one_job(self, bench: Bench) -> None:
        ledgers = [bench.open() for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda ledger: ledger.submit(bench.spec()), ledgers))
        assert len({job.id for job, _ in made}) == 1
        assert sorted(is_new for _, is_new in made) == [False, False, False, True]


def claims_so_far(bench: Bench, worker: Worker) -> int:
    """How many claims there ever were: what is in hand, and the attempts that ended."""
    return sum(row.attempts for row in bench.open().targets(worker.job))


def work_and_link(bench: Bench, worker: Worker, foreign: int) -> None:
    """Settle what there is; each page links to a new one in the other worker's chunk, up to a depth."""
    for round_ in range(LINKS):
        wish = worker.wish()
        verdicts = [
            succeed(here, found=(bench.found(f"{here.url}/{round_}", index=foreign, depth=here.depth + 1),))
            for here in worker.hand.values()
            if here.depth < LINKS
        ]
        verdicts += [succeed(here) for here in worker.hand.values() if here.depth >= LINKS]
        worker.send(worker.batches(*verdicts), wish)


def drain(bench: Bench, worker: Worker) -> None:
    """Settle until nothing is pending in this worker's chunks."""
    for _ in range(ROUNDS_MAX):
        settled = worker.settle(*map(succeed, list(worker.hand.values())), wish=worker.wish())
        if not settled.claimed and settled.next_due_ms is None:
            return
        bench.clock.advance(1)
    raise AssertionError("the worker's chunks never drained")
