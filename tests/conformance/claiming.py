"""Claiming: what is claimable, in which order, how politely, and what a suspect needs (FRO-10, E7, E11, E16)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.bench import MARSH, Bench
from conformance.leasing import die, suspect_worker
from conformance.verdicts import fail, hand_back, retry, succeed
from conformance.worker import Worker

POND = "https://pond.test"


class TestClaim:
    def test_a_claim_spends_an_attempt(self, bench: Bench) -> None:
        """TGT-06, L4."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        row = bench.target(worker.job, here.url)
        assert (row.status, row.attempts, here.attempts) == ("in_progress", 1, 1)
        assert (here.epoch, here.alone) == (worker.leases[here.chunk].epoch, False)

    def test_a_claimed_target_is_not_claimed_again(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        assert (len(worker.claim(room=2)), len(worker.claim()), len(worker.claim())) == (2, 1, 0)

    def test_a_claim_takes_no_more_than_there_is_room_for(self, bench: Bench) -> None:
        """FRO-07."""
        worker = bench.working(pages=5)
        assert [len(worker.claim(room=room)) for room in (0, 2, 9)] == [0, 2, 3]

    def test_a_claim_follows_rank_then_discovery(self, bench: Bench) -> None:
        """FRO-10."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        for cursor, (name, rank) in enumerate([("late", 5), ("first", 1), ("second", 1), ("urgent", 0)]):
            worker.enqueue(bench.found(f"{MARSH}/{name}", rank=rank), cursor=cursor, done=False)
        urls = [worker.claim(room=1)[0].url for _ in range(4)]
        assert urls == [f"{MARSH}/{name}" for name in ("urgent", "first", "second", "late")]

    def test_in_levels_the_next_depth_waits_until_this_one_is_settled_everywhere(self, bench: Bench) -> None:
        """FRO-04: in whatever chunk it lies and whoever holds it; then every page is found at its least depth."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        near = [bench.found(f"{MARSH}/near/{n}", depth=0, index=n) for n in (3, 9)]
        far = [bench.found(f"{MARSH}/far/{n}", depth=1, index=n) for n in (0, 3)]
        worker.enqueue(*near, *far)
        first = worker.take(worker.wish(in_levels=True))
        assert {here.url for here in first} == {f"{MARSH}/near/3", f"{MARSH}/near/9"}
        assert worker.take(worker.wish(in_levels=True)) == []
        worker.settle(succeed(first[0]))
        bench.clock.advance(1)
        assert worker.take(worker.wish(in_levels=True)) == []
        worker.settle(retry(first[1], wait_ms=5000))
        bench.clock.advance(1)
        assert worker.take(worker.wish(in_levels=True)) == [], "one that waits for its retry holds its level"
        bench.clock.advance(5)
        worker.settle(*map(fail, worker.take(worker.wish(in_levels=True))))
        bench.clock.advance(1)
        assert {here.url for here in worker.take(worker.wish(in_levels=True))} == {f"{MARSH}/far/0", f"{MARSH}/far/3"}

    def test_a_claim_without_a_batch_takes_a_number(self, bench: Bench) -> None:
        """L6: every write of a chunk is numbered."""
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert bench.verbs(worker.job, here.chunk) == ["lease", "claim"]
        assert worker.leases[here.chunk].no == 2

    def test_a_claim_under_an_old_number_takes_a_number_too(self, bench: Bench) -> None:
        """Only the epoch fences a claim; a worker whose last answer was lost has an old number."""
        worker = bench.working(pages=2)
        old = dict(worker.leases)
        [here] = worker.claim(room=1)
        worker.leases = old
        worker.claim(room=1)
        assert bench.verbs(worker.job, here.chunk) == ["lease", "claim", "claim"]

    def test_a_claim_with_a_batch_shares_its_number(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        settled = worker.settle(succeed(here), wish=worker.wish(room=1))
        assert len(settled.claimed) == 1
        assert bench.verbs(worker.job, here.chunk) == ["lease", "claim", "settle"]

    def test_a_claim_that_finds_nothing_takes_no_number(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.claim()
        before = bench.probe.entries(worker.job)
        assert worker.claim() == []
        assert bench.probe.entries(worker.job) == before

    @pytest.mark.parametrize("pace", [{"delay_ms": 1000}, {"per_host": 1}])
    def test_a_claim_that_no_host_allows_takes_no_number(self, bench: Bench, pace: dict[str, Any]) -> None:
        """Else a worker that waits for a slow host would write a row each time it looks."""
        worker = bench.working(pages=2)
        worker.claim(**pace)
        before = bench.probe.entries(worker.job)
        bench.clock.advance(0.5)
        assert worker.claim(**pace) == []
        assert bench.probe.entries(worker.job) == before

    def test_every_wished_chunk_is_answered(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        settled = worker.send([], worker.wish())
        assert set(settled.answers) == {item.chunk for item in worker.work}
        assert {answer.kind for answer in settled.answers.values()} == {"settled"}
        assert {chunk: answer.no for chunk, answer in settled.answers.items()} == {
            item.chunk: item.no for item in worker.work
        }

    def test_only_wished_chunks_are_claimed_from(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/a", index=3), bench.found(f"{MARSH}/b", index=4))
        claimed = worker.take(worker.wish(only=[item for item in worker.work if item.index == 4]))
        assert [here.url for here in claimed] == [f"{MARSH}/b"]

    def test_nothing_is_claimed_from_a_chunk_with_a_request(self, bench: Bench) -> None:
        """E11, L11."""
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        bench.ledger.request(worker.job, "pause", actor="ann", because="enough")
        settled = worker.settle(succeed(here), wish=worker.wish())
        assert settled.claimed == ()
        assert settled.answers[here.chunk].requested == "pause"
        assert bench.target(worker.job, here.url).status == "succeeded"


class TestHosts:
    def test_a_host_has_no_more_in_hand_than_it_may(self, bench: Bench) -> None:
        worker = bench.working(pages=5)
        assert len(worker.claim(per_host=2)) == 2
        assert worker.claim(per_host=2) == []
        worker.settle(succeed(next(iter(worker.hand.values()))))
        bench.clock.advance(1)
        assert len(worker.claim(per_host=2)) == 1

    def test_the_limit_of_a_host_holds_over_all_chunks(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*(bench.found(f"{MARSH}/{n}", index=n) for n in range(5)))
        assert len(worker.claim(per_host=3)) == 3

    def test_the_limit_of_a_host_holds_over_all_jobs(self, bench: Bench) -> None:
        first, second = (bench.working(pages=3, name=name) for name in ("marsh", "pond"))
        assert len(first.claim(per_host=2)) == 2
        assert second.claim(per_host=2) == []
        first.settle(*map(succeed, list(first.hand.values())))
        bench.clock.advance(1)
        assert len(second.claim(per_host=2)) == 2

    def test_with_a_delay_a_host_gives_one_target_at_a_time(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        assert len(worker.claim(delay_ms=500)) == 1
        bench.clock.advance(0.499)
        assert worker.claim(delay_ms=500) == []
        bench.clock.advance(0.001)
        assert len(worker.claim(delay_ms=500)) == 1

    def test_the_delay_of_a_host_survives_a_new_connection(self, bench: Bench) -> None:
        """E16: a restart is as polite as the moment before."""
        worker = bench.working(pages=2)
        worker.claim(delay_ms=60_000)
        worker.release()
        later = bench.worker(worker.job, ledger=bench.open(boot="boot-2"), owner=bench.owner(boot="boot-2"))
        later.lease()
        assert later.claim() == []
        bench.clock.advance(60)
        assert len(later.claim()) == 2

    def test_a_slow_host_does_not_starve_another(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        marsh, pond = bench.found_pages(3), bench.found_pages(3, host=POND)
        worker.enqueue(*marsh, *pond)
        claimed = worker.claim(delay_ms=60_000)
        assert sorted(here.host for here in claimed) == ["marsh.test", "pond.test"]

    def test_a_host_that_asked_for_patience_is_left_alone(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        worker.settle(retry(here, hold_host_ms=20_000))
        bench.clock.advance(19.999)
        assert worker.claim() == []
        bench.clock.advance(0.001)
        assert len(worker.claim()) == 2

    def test_of_two_holds_the_longer_one_counts(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(retry(first, hold_host_ms=20_000))
        worker.settle(retry(second, hold_host_ms=1000))
        bench.clock.advance(10)
        assert worker.claim() == []
        bench.clock.advance(10)
        assert len(worker.claim()) == 2

    def test_a_hold_concerns_only_its_host(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*bench.found_pages(1), *bench.found_pages(1, host=POND))
        here = next(here for here in worker.claim() if here.host == "marsh.test")
        [other] = [each for each in worker.hand.values() if each.host == "pond.test"]
        worker.settle(retry(here, hold_host_ms=20_000), retry(other))
        bench.clock.advance(1)
        assert [again.host for again in worker.claim()] == ["pond.test"]

    def test_a_dead_workers_slots_are_free_again(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.claim(per_host=2)
        bench.clock.advance(31)
        second = bench.worker(worker.job)
        second.lease()
        [suspect] = second.claim(per_host=2, alone=True)
        second.settle(succeed(suspect))
        assert len(second.claim(per_host=1, alone=True)) == 1


class TestNextDue:
    def test_nothing_pending_is_nothing_due(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.claim()
        assert worker.send([], worker.wish()).next_due_ms is None

    def test_a_delayed_host_is_due_when_its_delay_is_over(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.claim(delay_ms=500)
        bench.clock.advance(0.2)
        assert worker.send([], worker.wish(delay_ms=500)).next_due_ms == 300

    def test_a_waiting_target_is_due_at_its_time(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(retry(here, wait_ms=5000))
        bench.clock.advance(1)
        assert worker.send([], worker.wish()).next_due_ms == 4000

    def test_a_held_host_is_due_when_its_hold_ends(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        settled = worker.settle(retry(here, hold_host_ms=7000), wish=worker.wish())
        assert settled.claimed == ()
        assert settled.next_due_ms == 7000

    def test_a_full_host_is_due_soon(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.claim(per_host=1)
        due = worker.send([], worker.wish(per_host=1)).next_due_ms
        assert due is not None
        assert 0 < due <= 1000


class TestSuspects:
    def test_a_normal_wish_claims_no_suspect_and_says_how_many_there_are(self, bench: Bench) -> None:
        worker = suspect_worker(bench, pages=3)
        settled = worker.send([], worker.wish())
        assert (settled.claimed, settled.suspects) == ((), 3)
        assert settled.next_due_ms is not None

    def test_a_claim_that_finds_only_suspects_takes_no_number(self, bench: Bench) -> None:
        worker = suspect_worker(bench, pages=3)
        before = bench.probe.entries(worker.job)
        assert worker.claim() == []
        assert bench.probe.entries(worker.job) == before

    def test_alone_means_exactly_one(self, bench: Bench) -> None:
        worker = suspect_worker(bench, pages=3)
        settled = worker.send([], worker.wish(alone=True))
        assert [here.alone for here in settled.claimed] == [True]
        assert settled.suspects == 2
        assert bench.counts(worker.job)["in_progress"] == 1

    def test_alone_claims_nothing_that_is_no_suspect(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        assert worker.claim(alone=True) == []

    def test_the_suspect_with_the_fewest_deaths_goes_first(self, bench: Bench) -> None:
        """Note 1 of reliability 3.1."""
        worker = suspect_worker(bench, pages=3)
        seen = []
        for _ in range(3):
            bench.clock.advance(1)
            [here] = worker.claim(alone=True)
            seen.append(here.url)
            worker = successor(bench, worker)
        assert len(set(seen)) == 3

    def test_of_suspects_with_equal_deaths_the_least_recently_tried_goes_first(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim()
        worker.settle(hand_back(first))
        bench.clock.advance(1)
        assert [again.id for again in worker.claim()] == [first.id]
        worker = successor(bench, worker)
        assert [here.id for here in worker.claim(alone=True)] == [second.id]

    def test_suspects_of_all_wished_chunks_stand_in_one_order(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/a", index=0), bench.found(f"{MARSH}/b", index=9))
        worker.claim()
        worker = successor(bench, worker)
        [first] = worker.claim(alone=True)
        worker = successor(bench, worker)
        [second] = worker.claim(alone=True)
        assert {first.url, second.url} == {f"{MARSH}/a", f"{MARSH}/b"}

    def test_a_suspect_that_survives_is_settled_like_any_other(self, bench: Bench) -> None:
        worker = suspect_worker(bench, pages=1)
        [here] = worker.claim(alone=True)
        worker.settle(succeed(here))
        assert bench.counts(worker.job)["succeeded"] == 1

    def test_a_suspect_waits_for_its_host_like_any_other(self, bench: Bench) -> None:
        worker = suspect_worker(bench, pages=2)
        assert len(worker.claim(alone=True, delay_ms=1000)) == 1
        assert worker.claim(alone=True, delay_ms=1000) == []
        bench.clock.advance(1)
        assert len(worker.claim(alone=True, delay_ms=1000)) == 1

    def test_fifty_deaths_in_company_poison_nobody(self, bench: Bench) -> None:
        """E7: random kills are nobody's fault."""
        worker = bench.working(pages=4)
        for _ in range(50):
            worker.claim()
            worker = successor(bench, worker)
        assert bench.counts(worker.job)["failed"] == 0


def successor(bench: Bench, worker: Worker) -> Worker:
    """The worker dies; another one rescues what it held and takes its chunks."""
    die(bench, worker.job, worker.owner)
    heir = bench.worker(worker.job)
    heir.lease()
    return heir
