"""Hosts: turns at hosts that no claim stands for, and robots.txt, kept for all jobs (E16, ERR-05)."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.leasing import die
from conformance.verdicts import fail, hand_back, retry, succeed
from conformance.worker import Worker
from holdfast.errors import LostLease
from holdfast.model.host import FAILED, FORBADE, UNREACHABLE, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.target import Claimed

POND = "https://pond.test"
AGENT = "holdfast"


def turn(
    worker: Worker,
    here: Claimed | None,
    host: str = "pond.test",
    *,
    ticket: str = "a",
    delay_ms: int = 500,
    per_host: int = 2,
    patience_ms: int = 1000,
) -> Turn:
    return worker.ledger.turn(host, here, ticket=ticket, delay_ms=delay_ms, per_host=per_host, patience_ms=patience_ms)


class TestTurns:
    def test_turns_at_another_host_keep_its_delay(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a") == Turn(True, 0)
        assert turn(worker, here, ticket="b") == Turn(True, 500)
        worker.ledger.leave("a")
        worker.ledger.leave("b")
        assert turn(worker, here, ticket="c") == Turn(True, 1000)

    def test_a_turn_that_is_further_away_than_one_will_wait_is_not_taken(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a", delay_ms=5000) == Turn(True, 0)
        assert turn(worker, here, ticket="b", patience_ms=1000) == Turn(False, 5000)
        bench.clock.advance(4.5)
        assert turn(worker, here, ticket="b", patience_ms=1000) == Turn(True, 500)

    def test_no_more_turns_at_once_than_the_host_has_slots(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a", delay_ms=0, per_host=1).taken
        assert not turn(worker, here, ticket="b", delay_ms=0, per_host=1).taken
        worker.ledger.leave("a")
        worker.ledger.leave("a")
        assert turn(worker, here, ticket="b", delay_ms=0, per_host=1).taken

    def test_a_turn_whose_answer_was_lost_is_answered_again_and_takes_one_slot(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a", per_host=1).taken
        assert turn(worker, here, ticket="a", per_host=1).taken
        worker.ledger.leave("a")
        bench.clock.advance(10)
        assert turn(worker, here, ticket="b", per_host=1).taken

    def test_a_second_request_to_the_targets_own_host_waits_for_its_delay_in_the_same_slot(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1, delay_ms=800, per_host=1)
        assert turn(worker, here, "marsh.test", delay_ms=800, per_host=1) == Turn(True, 800)
        bench.clock.advance(1)
        assert worker.claim(delay_ms=800, per_host=2) == [], "the turn that was taken is kept by claims as well"
        bench.clock.advance(1)
        assert len(worker.claim(delay_ms=800, per_host=2)) == 1

    def test_claims_wait_for_visits_and_their_delay(self, bench: Bench) -> None:
        """The slots of a host are one number, whoever takes them."""
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(bench.found(f"{MARSH}/frog", index=1), bench.found(f"{POND}/frog", index=2))
        [here] = worker.take(worker.wish(only=[worker.work[1]]))
        assert turn(worker, here, ticket="a", delay_ms=300, per_host=1).taken
        bench.clock.advance(0.3)
        pond = worker.wish(only=[worker.work[2]], per_host=1)
        assert worker.take(pond) == []
        worker.ledger.leave("a")
        bench.clock.advance(0.1)
        assert [each.url for each in worker.take(pond)] == [f"{POND}/frog"]

    def test_a_dead_workers_visits_take_no_slot(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a", per_host=1).taken
        die(bench, worker.job, worker.owner)
        heir = bench.worker(worker.job)
        heir.lease()
        [here] = heir.claim(alone=True)
        bench.clock.advance(1)
        assert turn(heir, here, ticket="b", per_host=1) == Turn(True, 0)

    def test_a_released_lease_leaves_no_visit(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert turn(worker, here, ticket="a", per_host=1).taken
        worker.release()
        worker.lease()
        [here] = worker.claim()
        bench.clock.advance(1)
        assert turn(worker, here, ticket="b", per_host=1).taken

    def test_a_visited_host_that_asks_for_patience_or_fails_gets_it_and_only_that_host(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        [here] = worker.claim(room=1)
        assert turn(worker, here, ticket="a", delay_ms=0).taken
        worker.ledger.leave("a", Visited(FAILED, hold_ms=7000))
        assert turn(worker, here, ticket="b", delay_ms=0) == Turn(False, 7000)
        bench.clock.advance(7)
        for ticket in "bcde":
            assert turn(worker, here, ticket=ticket, delay_ms=0).taken
            worker.ledger.leave(ticket, Visited(FAILED))
        [look] = worker.ledger.hosts(host="pond.test")
        assert (look.trips, look.hold_until - bench.clock.wall_ms()) == (1, 30_000)
        worker.settle(retry(here, code="http_429", elsewhere=True, wait_ms=0))
        assert worker.ledger.hosts(host="marsh.test")[0].fails == 0
        assert len(worker.claim()) == 2

    def test_whoever_lost_the_lease_gets_no_turn(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        die(bench, worker.job, worker.owner)
        bench.worker(worker.job).lease()
        with pytest.raises(LostLease):
            turn(worker, here)

    def test_a_request_under_no_lease_keeps_the_pace_and_leaves_no_slot_taken(self, bench: Bench) -> None:
        """The command that asks for a list may be killed at any moment. A job that gives a slot back takes it again in
        the same commit, so a request that waited for a free one would wait as long as the job is worked."""
        worker = bench.working(pages=1)
        assert turn(worker, None, "marsh.test", ticket="a", delay_ms=700, per_host=1) == Turn(True, 0)
        assert worker.claim(per_host=1) == [], "claims wait for it"
        bench.clock.advance(0.7)
        [here] = worker.claim(delay_ms=400, per_host=1)
        assert turn(worker, None, "marsh.test", ticket="b", delay_ms=0, per_host=1) == Turn(True, 400), "it is full"
        assert worker.ledger.hosts(host="marsh.test")[0].in_flight == 1
        bench.clock.advance(0.4)
        worker.settle(succeed(here))
        assert turn(worker, None, "marsh.test", ticket="c", delay_ms=0, per_host=1).taken
        assert turn(worker, None, "marsh.test", ticket="d", delay_ms=0, per_host=1).taken
        assert worker.ledger.hosts(host="marsh.test")[0].in_flight == 0

    def test_what_a_request_under_no_lease_heard_counts_as_any_other(self, bench: Bench) -> None:
        ledger = bench.ledger
        assert ledger.turn("pond.test", None, ticket="a", delay_ms=0, per_host=1, patience_ms=0).taken
        ledger.tell("pond.test", Visited(FAILED, hold_ms=7000))
        assert ledger.turn("pond.test", None, ticket="b", delay_ms=0, per_host=1, patience_ms=0) == Turn(False, 7000)
        bench.clock.advance(7)
        for _ in range(4):
            ledger.tell("pond.test", Visited(FAILED))
        [look] = ledger.hosts(host="pond.test")
        assert (look.trips, look.hold_until - bench.clock.wall_ms()) == (1, 30_000)


class TestRobots:
    def test_one_worker_asks_and_all_are_told(self, bench: Bench) -> None:
        first, second = bench.working(pages=1), bench.working(pages=1, name="other")
        [here], [there] = first.claim(), second.claim()
        assert first.ledger.robots(MARSH, AGENT, here) == RobotsAnswer(ask=True)
        assert second.ledger.robots(MARSH, AGENT, there) == RobotsAnswer(), "another worker is asking"
        kept = KeptRobots(status=200, body=b"User-agent: *\nDisallow: /p", crawl_delay_ms=2000)
        first.ledger.keep_robots(MARSH, "marsh.test", AGENT, kept)
        for worker, claimed in ((first, here), (second, there)):
            told = worker.ledger.robots(MARSH, AGENT, claimed).kept
            assert told is not None
            assert (told.status, told.body, told.life_ms) == (200, kept.body, kept.life_ms)

    def test_it_is_asked_for_again_after_a_day_and_after_the_clock_was_set_back(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.ledger.robots(MARSH, AGENT, here)
        worker.ledger.keep_robots(MARSH, "marsh.test", AGENT, KeptRobots(status=404))
        bench.clock.advance(23 * 3600)
        assert worker.ledger.robots(MARSH, AGENT, here).kept is not None
        bench.clock.advance(3600)
        assert worker.ledger.robots(MARSH, AGENT, here).ask

    def test_the_asker_may_die_and_the_next_one_asks(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        assert worker.ledger.robots(MARSH, AGENT, here).ask
        die(bench, worker.job, worker.owner)
        heir = bench.worker(worker.job)
        heir.lease()
        [here] = heir.claim(alone=True)
        assert heir.ledger.robots(MARSH, AGENT, here).ask

    def test_an_asker_that_got_nothing_leaves_it_to_others(self, bench: Bench) -> None:
        first, second = bench.working(pages=1), bench.working(pages=1, name="other")
        [here], [there] = first.claim(), second.claim()
        first.ledger.robots(MARSH, AGENT, here)
        first.ledger.keep_robots(MARSH, "marsh.test", AGENT, None)
        assert second.ledger.robots(MARSH, AGENT, there).ask
        assert first.ledger.robots(MARSH, AGENT, here) == RobotsAnswer()
        assert first.ledger.robots(MARSH, AGENT, here, insist=True).ask, "who has waited too long asks itself"

    def test_failed_tries_are_counted_whoever_made_them(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.ledger.robots(MARSH, AGENT, here)
        tried = KeptRobots(status=UNREACHABLE, tries=2, because="HTTP 503", life_ms=0)
        worker.ledger.keep_robots(MARSH, "marsh.test", AGENT, tried)
        bench.reopen()
        assert worker.ledger.robots(MARSH, AGENT, here) == RobotsAnswer(ask=True, tries=2)

    def test_a_crawl_delay_holds_for_every_claim_of_the_host(self, bench: Bench) -> None:
        """ERR-05: the longer of the job's pace and the Crawl-delay, after a restart too."""
        worker = bench.working(pages=3)
        [here] = worker.claim(room=1, delay_ms=100)
        worker.ledger.robots(MARSH, AGENT, here)
        worker.ledger.keep_robots(MARSH, "marsh.test", AGENT, KeptRobots(status=200, crawl_delay_ms=3000))
        worker.settle(succeed(here))
        bench.clock.advance(0.2)
        [here] = worker.claim(delay_ms=100)
        assert here.delay_ms == 3000
        assert worker.adopt() == [here]
        worker.settle(succeed(here))
        bench.clock.advance(2.9)
        assert worker.claim(delay_ms=100) == []
        bench.clock.advance(0.1)
        assert len(worker.claim(delay_ms=5000)) == 1


class TestBreaker:
    """ERR-05: five failures in a row give a host a rest of 30 s, doubling to 15 minutes; an answer closes it."""

    def failing(self, bench: Bench, worker: Worker, n: int) -> None:
        for _ in range(n):
            [here] = worker.claim(room=1)
            worker.settle(retry(here, code="network_error", wait_ms=0))
            bench.clock.advance(0.1)

    def rest_of(self, bench: Bench, worker: Worker) -> float:
        [look] = worker.ledger.hosts(host="marsh.test")
        return round((look.hold_until - bench.clock.wall_ms()) / 1000)

    def test_five_failures_in_a_row_open_it_and_it_survives_a_restart(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        self.failing(bench, worker, 4)
        assert len(worker.claim(room=1)) == 1, "four are no reason"
        worker.settle(retry(next(iter(worker.hand.values())), code="http_5xx", wait_ms=0))
        bench.reopen()
        [look] = bench.ledger.hosts()
        assert (look.breaker(bench.clock.wall_ms()), look.trips) == ("open", 1)
        bench.clock.advance(29.9)
        assert worker.claim() == []
        bench.clock.advance(0.2)
        assert bench.ledger.hosts()[0].breaker(bench.clock.wall_ms()) == "half_open"
        assert len(worker.claim()) == 1

    def test_each_rest_is_twice_as_long_up_to_fifteen_minutes(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        rests = []
        for _ in range(7):
            self.failing(bench, worker, 5)
            rests.append(self.rest_of(bench, worker))
            bench.clock.advance(rests[-1] + 1)
        assert rests == [30, 60, 120, 240, 480, 900, 900]

    def test_an_answer_closes_it_whatever_the_answer(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        self.failing(bench, worker, 5)
        bench.clock.advance(31)
        [here] = worker.claim(room=1)
        worker.settle(fail(here, code="http_404", status_code=404))
        [look] = worker.ledger.hosts()
        assert (look.fails, look.trips, look.breaker(bench.clock.wall_ms())) == (0, 0, "closed")
        self.failing(bench, worker, 4)
        [here] = worker.claim(room=1)
        worker.settle(succeed(here))
        self.failing(bench, worker, 4)
        assert self.rest_of(bench, worker) < 0

    def test_what_was_under_way_when_it_opened_does_not_open_it_again(self, bench: Bench) -> None:
        worker = bench.working(pages=12)
        hand = worker.claim()
        assert len(hand) == 12
        for here in hand:
            worker.settle(retry(here, code="network_timeout", wait_ms=0))
        [look] = worker.ledger.hosts()
        assert (look.trips, self.rest_of(bench, worker)) == (1, 30)

    def test_what_was_given_back_says_nothing_about_the_host(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        self.failing(bench, worker, 3)
        [here] = worker.claim(room=1)
        worker.settle(hand_back(here))
        [look] = worker.ledger.hosts()
        assert look.fails == 3


class TestForbidden:
    """ERR-02: answers 403 in a row are counted on the host's row, over pages, workers, jobs and restarts."""

    def forbidden(self, worker: Worker, n: int) -> dict[str, int]:
        hand = worker.claim(room=n)
        assert len(hand) == n
        return worker.settle(*(fail(here, code="http_403", status_code=403) for here in hand)).forbade

    def test_they_are_counted_over_commits_jobs_and_a_restart(self, bench: Bench) -> None:
        worker, other = bench.working(pages=9), bench.working(9, "other")
        assert self.forbidden(worker, 3) == {"marsh.test": 3}
        assert self.forbidden(other, 2) == {"marsh.test": 5}
        bench.reopen()
        assert self.forbidden(worker, 1) == {"marsh.test": 6}

    def test_another_answer_ends_the_row_and_a_failure_or_a_page_given_back_does_not(self, bench: Bench) -> None:
        worker = bench.working(pages=20)
        self.forbidden(worker, 3)
        first, second, third = worker.claim(room=3)
        told = worker.settle(retry(first, code="http_5xx"), hand_back(second), retry(third, code="network_error"))
        assert told.forbade == {}, "none of them is an answer 403"
        assert self.forbidden(worker, 1) == {"marsh.test": 4}
        worker.settle(*(fail(here) for here in worker.claim(room=1)))
        assert self.forbidden(worker, 2) == {"marsh.test": 2}

    def test_one_row_that_ends_and_another_that_begins_within_a_commit_are_two(self, bench: Bench) -> None:
        worker = bench.working(pages=9)
        self.forbidden(worker, 2)
        first, second, third, last = worker.claim(room=4)
        no = [fail(here, code="http_403", status_code=403) for here in (first, third, last)]
        assert worker.settle(no[0], succeed(second), *no[1:]).forbade == {"marsh.test": 2}

    def test_what_was_heard_on_a_visit_counts_for_the_host_that_was_visited(self, bench: Bench) -> None:
        here, there = bench.working(1, "pond", host=POND), bench.working(3)
        [mine] = here.claim()
        for ticket in "ab":
            assert turn(here, mine, "marsh.test", ticket=ticket, delay_ms=0).taken
            here.ledger.leave(ticket, Visited(FORBADE))
        assert self.forbidden(there, 1) == {"marsh.test": 3}


def limit(bench: Bench, host: str = "marsh.test", **pace: int) -> HostLook:
    return bench.ledger.limit_host(host, **pace, actor="ann", because="gently")


class TestLimits:
    def test_what_a_person_sets_is_an_event_of_the_jobs_it_concerns(self, bench: Bench) -> None:
        here, over, elsewhere = bench.working(1), bench.working(1, "over"), bench.started("elsewhere")
        over.settle(*map(succeed, over.claim()))
        assert bench.ledger.advance(over.job, over.control) is not None
        limit(bench, delay_ms=2000)
        events = [event for event in bench.ledger.history(here.job)[0] if event.verb == "limit"]
        assert [(event.actor, event.because) for event in events] == [("ann", "gently")]
        for job in (over.job, elsewhere.id):
            assert "limit" not in [event.verb for event in bench.ledger.history(job)[0]]

    def test_what_was_said_last_holds_by_a_person_or_by_a_file(self, bench: Bench) -> None:
        """A file is heeded at every start: what it said before is no news."""
        configure = bench.ledger.configure_host
        configure("pond.test", delay_ms=2000, concurrency=3)
        limit(bench, "pond.test", delay_ms=500)
        look = configure("pond.test", delay_ms=2000, concurrency=3)
        assert (look.delay_ms, look.concurrency) == (500, 3)
        look = configure("pond.test", delay_ms=4000)
        assert (look.delay_ms, look.concurrency) == (4000, 3)
        assert limit(bench, "pond.test", concurrency=9).concurrency == 9
        assert configure("pond.test", concurrency=3).concurrency == 9

    def test_a_hosts_own_limits_hold_for_the_next_claim_where_they_are_stricter(self, bench: Bench) -> None:
        worker = bench.working(pages=9)
        assert len(worker.claim(room=2, per_host=3)) == 2
        limit(bench, concurrency=3)
        assert len(worker.claim(room=9)) == 1
        worker.settle(*map(succeed, list(worker.hand.values())))
        limit(bench, delay_ms=2000)
        bench.clock.advance(0.1)
        [here] = worker.claim(delay_ms=100)
        assert here.delay_ms == 2000
        bench.clock.advance(1.9)
        assert worker.claim(delay_ms=100) == []
        bench.clock.advance(0.2)
        assert len(worker.claim(delay_ms=5000)) == 1
        bench.clock.advance(4.9)
        assert worker.claim(delay_ms=5000) == [], "the job's own delay is longer"

    def test_what_is_not_named_stays(self, bench: Bench) -> None:
        limit(bench, "pond.test", delay_ms=700)
        look = limit(bench, "pond.test", concurrency=4)
        assert (look.host, look.delay_ms, look.concurrency) == ("pond.test", 700, 4)
        assert bench.ledger.hosts(host="pond.test") == [look]

    def test_hosts_are_listed_by_name_page_by_page(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        limit(bench, "pond.test", delay_ms=0)
        worker.ledger.robots(MARSH, AGENT, here)
        worker.ledger.keep_robots(MARSH, "marsh.test", AGENT, KeptRobots(status=404))
        first, second = bench.ledger.hosts()
        assert (first.host, first.in_flight, first.robots_at) == ("marsh.test", 1, bench.clock.wall_ms())
        assert bench.ledger.hosts(limit=1) == [first]
        assert bench.ledger.hosts(after="marsh.test") == [second]
        assert second.robots_at is None
