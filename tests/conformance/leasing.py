"""Leases: who gets a chunk, how long, and what is put back when a hold ends (design 5, TGT-06, PAU-13)."""

from __future__ import annotations

import msgspec
import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import succeed
from conformance.worker import Worker
from holdfast import faults
from holdfast.control import stopping
from holdfast.engine.liveness import is_dead, this_process
from holdfast.errors import LedgerUnavailable
from holdfast.model.bookmark import Bookmark
from holdfast.model.lease import Owner

NO_PID = 2**22 + 1  # more than Linux ever gives


class TestLease:
    def test_only_a_running_job_is_leased(self, bench: Bench) -> None:
        assert bench.worker(bench.submitted().id).lease() == ()

    @pytest.mark.parametrize("action", ["pause", "cancel"])
    def test_a_job_with_a_request_is_not_leased(self, bench: Bench, action: str) -> None:
        job = bench.started().id
        bench.ledger.request(job, action, actor="ann", because="enough")
        assert bench.worker(job).lease() == ()

    def test_a_worker_gets_as_many_work_chunks_as_it_wants_by_index(self, bench: Bench) -> None:
        leases = bench.worker(bench.started().id).lease(want=3)
        assert [item.kind for item in leases] == ["control", "plan", "work", "work", "work"]
        assert [item.index for item in leases if item.kind == "work"] == [0, 1, 2]

    def test_control_and_plan_come_without_being_wanted(self, bench: Bench) -> None:
        leases = bench.worker(bench.started().id).lease(want=0)
        assert [item.kind for item in leases] == ["control", "plan"]

    def test_a_second_worker_gets_what_is_left(self, bench: Bench) -> None:
        first = bench.worker(bench.started().id)
        first.lease(want=10)
        second = bench.worker(first.job)
        assert [(item.kind, item.index) for item in second.lease()] == [("work", n) for n in range(10, 16)]
        assert bench.worker(first.job).lease() == ()

    def test_a_lease_raises_the_epoch_and_takes_a_number(self, bench: Bench) -> None:
        """L5."""
        job = bench.started().id
        assert {(item.epoch, item.no) for item in bench.worker(job).lease()} == {(1, 1)}
        assert bench.verbs(job, bench.ledger.holders(job)[0].chunk) == ["lease"]

    def test_the_next_grant_of_a_chunk_has_a_higher_epoch(self, bench: Bench) -> None:
        first = bench.worker(bench.started().id)
        before = {item.chunk: item for item in first.lease()}
        first.release()
        after = bench.worker(first.job).lease()
        assert len(after) == 18
        assert {item.epoch - before[item.chunk].epoch for item in after} == {1}
        assert all(item.no > before[item.chunk].no for item in after)

    def test_a_chunk_whose_owner_died_is_leased_at_once(self, bench: Bench) -> None:
        """TGT-09."""
        first = bench.working()
        bench.dead.add(first.owner)
        assert len(bench.worker(first.job).lease()) == 18

    def test_a_live_owner_keeps_its_chunks_until_they_lapse(self, bench: Bench) -> None:
        """PAU-15: by the store's clock."""
        first = bench.worker(bench.started().id)
        first.lease(life_s=30)
        bench.clock.advance(29.9)
        assert bench.worker(first.job).lease() == ()
        bench.clock.advance(0.1)
        assert len(bench.worker(first.job).lease()) == 18

    def test_setting_the_wall_clock_ends_no_lease(self, bench: Bench) -> None:
        """E13, where leases are compared by monotonic time."""
        first = bench.worker(bench.started().id)
        first.lease()
        if bench.boot_bound:
            bench.clock.set_wall(bench.clock.wall_ms() + 86_400_000)
        assert bench.worker(first.job).lease() == ()

    def test_a_lease_of_an_earlier_boot_has_lapsed_where_deadlines_end_with_the_boot(self, bench: Bench) -> None:
        """Note 2 of reliability 3.1: a deadline in monotonic time means nothing to another boot."""
        first = bench.worker(bench.started().id)
        first.lease()
        later = bench.worker(first.job, ledger=bench.open(boot="boot-2"), owner=bench.owner(boot="boot-2"))
        assert len(later.lease()) == (18 if bench.boot_bound else 0)

    def test_a_lease_is_told_in_history(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease(want=1)
        events = [event for event in bench.ledger.history(worker.job)[0] if event.thing == "chunk"]
        assert [(e.verb, e.source, e.target, e.actor) for e in events] == [
            ("lease", "idle", "leased", str(worker.owner))
        ] * 3

    def test_a_lease_that_failed_before_its_commit_never_was(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        faults.arm("lease.before_commit:1:raise")
        with pytest.raises(faults.InjectedFault):
            worker.lease()
        assert bench.ledger.holders(worker.job) == []

    def test_a_lease_whose_answer_was_lost_is_answered_again(self, bench: Bench) -> None:
        """E8: the same asker gets what is its own, under the same epoch; nobody else does."""
        worker = bench.worker(bench.started().id)
        faults.arm("lease.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            worker.lease(want=4)
        assert bench.worker(worker.job).lease(want=4) != ()
        again = worker.lease(want=4)
        assert [(item.kind, item.epoch, item.no) for item in again] == [
            ("control", 1, 1), ("plan", 1, 1), *[("work", 1, 1)] * 4,
        ]  # fmt: skip
        assert worker.lease(want=4) == again

    def test_a_lease_whose_answer_was_lost_is_free_again_when_its_time_is_over(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        faults.arm("lease.after_commit:1:unknown")
        with pytest.raises(LedgerUnavailable):
            worker.lease()
        assert len(bench.ledger.holders(worker.job)) == 18
        bench.clock.advance(30)
        assert len(worker.lease()) == 18

    def test_the_holders_are_those_with_an_owner(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        leases = worker.lease(want=2)
        holders = bench.ledger.holders(worker.job)
        assert [(h.chunk, h.kind, h.epoch, h.owner, h.lapsed) for h in holders] == [
            (item.chunk, item.kind, item.epoch, worker.owner, False) for item in leases
        ]
        bench.clock.advance(30)
        assert {holder.lapsed for holder in bench.ledger.holders(worker.job)} == {True}


class TestRescue:
    def test_a_death_in_company_makes_suspects_and_refunds_them(self, bench: Bench) -> None:
        """TGT-06, E7."""
        worker = bench.working(pages=3)
        worker.claim()
        bench.dead.add(worker.owner)
        rescued = bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        assert (rescued.chunks, rescued.targets, rescued.poisoned) == (18, 3, 0)
        assert {row.attempts for row in bench.targets(worker.job)} == {0}
        second = bench.worker(worker.job)
        second.lease()
        assert second.claim() == []
        assert len(second.claim(alone=True)) == 1

    def test_a_death_alone_spends_the_attempt(self, bench: Bench) -> None:
        """TGT-06."""
        worker = suspect_worker(bench, pages=1)
        [here] = worker.claim(alone=True)
        assert here.alone
        die(bench, worker.job, worker.owner)
        assert bench.target(worker.job, here.url).attempts == 1

    def test_three_deaths_alone_are_poison(self, bench: Bench) -> None:
        """TGT-06, E7: kept and visible."""
        worker = suspect_worker(bench, pages=1)
        poisoned = []
        for _ in range(3):
            assert len(worker.claim(alone=True)) == 1
            poisoned.append(die(bench, worker.job, worker.owner))
            worker = bench.worker(worker.job)
            worker.lease()
        assert poisoned == [0, 0, 1]
        [row] = bench.targets(worker.job)
        assert (row.status, row.code, row.attempts) == ("failed", "poison", 3)
        assert row.settled_at == bench.clock.wall_ms()
        told, _ = bench.ledger.ended(worker.job, Bookmark({}))
        assert [(each.outcome, each.code) for each in told] == [("failed", "poison")]

    def test_a_job_that_was_cancelled_after_its_lease_begins_no_run(self, bench: Bench) -> None:
        """`cancel --now` does not wait for who holds it."""
        worker = bench.working()
        stopping.cancel(bench.ledger, bench.ledger.books(worker.job)[0], actor="user", now=True)
        run = bench.ledger.books(worker.job)[0].run
        assert bench.ledger.open_run(worker.job, mode="full", trigger="cli") == run
        job = bench.ledger.books(worker.job)[0]
        assert (job.status, job.run) == ("cancelled", run)

    def test_what_a_silent_owner_held_is_suspect_too(self, bench: Bench) -> None:
        """E7: where a death cannot be proven (another host, a new container), a killer would else go round for ever."""
        worker = bench.working(pages=2)
        worker.claim()
        bench.clock.advance(30)
        bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        second = bench.worker(worker.job)
        second.lease()
        assert second.claim() == []
        assert [here.attempts for here in second.claim(alone=True)] == [1]

    def test_a_power_cut_blames_nobody_where_it_can_be_known(self, bench: Bench) -> None:
        """The owner's boot is not the rescuer's: everything stopped, whatever was in hand. A database cannot tell that
        from the silence of another machine."""
        worker = bench.working(pages=2)
        worker.claim()
        later = bench.worker(worker.job, ledger=bench.open(boot="boot-2"), owner=bench.owner(boot="boot-2"))
        if bench.boot_bound:
            later.lease()
            assert [here.attempts for here in later.claim()] == [1, 1]
        else:
            bench.clock.advance(30)
            later.lease()
            assert later.claim() == []
            assert [here.attempts for here in later.claim(alone=True)] == [1]

    def test_machines_that_are_called_alike_do_not_take_each_others_chunks(self, bench: Bench) -> None:
        """PAU-16: across machines only the lease decides. No process has the pid of either here."""
        here = msgspec.structs.replace(this_process(), pid=NO_PID, started=1)
        there = msgspec.structs.replace(here, boot="boot-2")
        job = bench.started().id
        first = bench.worker(job, ledger=bench.open(boot=there.boot), owner=there)
        first.lease()
        taken = bench.ledger.lease(job, here, life_s=30, want=16, is_dead=is_dead)
        rescued = bench.open(boot=here.boot).rescue(job, is_dead=is_dead)
        if bench.boot_bound:  # one kernel at a time has the file: what another boot held is over
            assert len(taken) == 18
        else:
            assert (taken, rescued.chunks, len(first.renew())) == ((), 0, 18)
            bench.clock.advance(30)
            assert len(bench.ledger.lease(job, here, life_s=30, want=16, is_dead=is_dead)) == 18

    def test_a_live_owner_is_not_rescued(self, bench: Bench) -> None:
        worker = bench.working()
        worker.claim()
        assert bench.ledger.rescue(worker.job, is_dead=bench.is_dead).chunks == 0
        assert bench.counts(worker.job)["in_progress"] == 3

    def test_leasing_a_dead_owners_chunks_rescues_in_the_same_call(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim()
        bench.dead.add(worker.owner)
        second = bench.worker(worker.job)
        second.lease()
        assert bench.counts(worker.job)["pending"] == 3
        assert len(second.claim(alone=True)) == 1

    def test_only_the_chunks_that_are_taken_are_rescued(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/a", index=0), bench.found(f"{MARSH}/b", index=15))
        worker.claim()
        bench.dead.add(worker.owner)
        bench.worker(worker.job).lease(want=1)
        assert bench.target(worker.job, f"{MARSH}/a").status == "pending"
        assert bench.target(worker.job, f"{MARSH}/b").status == "in_progress"

    def test_a_rescue_is_counted_once_per_call_with_what_it_put_back(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        worker.claim()
        die(bench, worker.job, worker.owner)
        job = bench.job(worker.job)
        assert (job.recoveries, job.refetched) == (1, 3)
        bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        assert bench.job(worker.job).recoveries == 1

    def test_a_rescued_target_has_an_attempt_that_was_lost(self, bench: Bench) -> None:
        """L4."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        die(bench, worker.job, worker.owner)
        [attempt] = bench.ledger.history(worker.job, target=here.id)[1]
        assert (attempt.outcome, attempt.n, attempt.worker) == ("lost", 1, str(worker.owner))

    def test_a_rescue_is_told_in_history(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease(want=0)
        die(bench, worker.job, worker.owner)
        assert bench.events(worker.job, "chunk").count(("rescue", "leased", "idle")) == 2


class TestRenew:
    def test_a_renewed_lease_lasts_from_now_on(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease(life_s=30)
        bench.clock.advance(20)
        assert len(worker.renew(life_s=30)) == 18
        bench.clock.advance(20)
        assert bench.worker(worker.job).lease() == ()

    def test_a_lost_lease_is_missing_from_the_answer(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        bench.clock.advance(30)
        taken = bench.worker(worker.job).lease(want=4)
        kept = worker.renew()
        assert len(kept) == 12
        assert not {item.chunk for item in kept} & {item.chunk for item in taken}

    def test_a_rescued_lease_cannot_be_renewed(self, bench: Bench) -> None:
        """Nobody took it, and still it is gone: what it held was put back."""
        worker = bench.working()
        bench.clock.advance(30)
        bench.ledger.rescue(worker.job, is_dead=bench.is_dead)
        assert worker.renew() == ()

    def test_active_time_is_added_once(self, bench: Bench) -> None:
        """PAU-07."""
        worker = bench.working()
        worker.renew(active_ms=1500)
        worker.renew(active_ms=500)
        assert bench.job(worker.job).active_ms == 2000

    def test_a_worker_that_lost_everything_adds_no_time(self, bench: Bench) -> None:
        worker = bench.working()
        bench.clock.advance(30)
        bench.worker(worker.job).lease()
        worker.renew(active_ms=1500)
        assert bench.job(worker.job).active_ms == 0

    def test_a_renewal_takes_no_number(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        before = {item.chunk: item.no for item in worker.lease()}
        assert {item.chunk: item.no for item in worker.renew()} == before


class TestRelease:
    def test_a_released_chunk_is_free_at_once(self, bench: Bench) -> None:
        worker = bench.working()
        worker.release()
        assert bench.ledger.holders(worker.job) == []
        assert len(bench.worker(worker.job).lease()) == 18
        assert bench.events(worker.job, "chunk").count(("release", "leased", "idle")) == 18

    def test_what_is_still_held_is_handed_back_with_its_attempt(self, bench: Bench) -> None:
        """E10."""
        worker = bench.working(pages=2)
        here, _ = worker.claim()
        worker.release()
        assert {(row.status, row.attempts) for row in bench.targets(worker.job)} == {("pending", 0)}
        [attempt] = bench.ledger.history(worker.job, target=here.id)[1]
        assert attempt.outcome == "handed_back"
        second = bench.worker(worker.job)
        second.lease()
        assert len(second.claim()) == 2

    def test_a_lost_lease_is_ignored(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        bench.clock.advance(30)
        second = bench.worker(worker.job)
        second.lease()
        second.claim()
        worker.release()
        assert bench.counts(worker.job)["in_progress"] == 1
        assert len(bench.ledger.holders(worker.job)) == 18


class TestHeld:
    def test_held_tells_what_the_ledger_says_is_in_hand(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        claimed = worker.claim(room=2)
        holding = bench.ledger.held(list(worker.leases.values()))
        assert sorted(holding.claimed, key=lambda here: here.id) == sorted(claimed, key=lambda here: here.id)
        assert {item.chunk: item for item in holding.leases} == worker.leases

    def test_a_settled_target_is_no_longer_held(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(succeed(first))
        assert [here.id for here in worker.adopt()] == [second.id]

    def test_a_lost_lease_holds_nothing(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.claim()
        bench.clock.advance(30)
        second = bench.worker(worker.job)
        second.lease()
        second.claim()
        holding = bench.ledger.held(list(worker.leases.values()))
        assert (holding.leases, holding.claimed) == ((), ())


def die(bench: Bench, job: int, owner: Owner) -> int:
    """The owner dies and is rescued; how many of its targets were poisoned."""
    bench.dead.add(owner)
    return bench.ledger.rescue(job, is_dead=bench.is_dead).poisoned


def suspect_worker(bench: Bench, pages: int) -> Worker:
    """A worker of a job whose targets are all suspects, for their first worker died with them in company."""
    first = bench.working(pages=pages)
    first.claim()
    die(bench, first.job, first.owner)
    second = bench.worker(first.job)
    second.lease()
    return second
