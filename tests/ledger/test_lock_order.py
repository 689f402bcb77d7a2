"""One order for all locks on PostgreSQL: turn, job, chunks, keys, lanes by id, hosts by id. Nobody waits out of it.

Each case holds one lock from outside, lets a verb run into it, and takes everything that comes later without waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from conformance.bench import Bench, postgres_bench
from conformance.verdicts import page
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.ledger.postgres import TURN_LOCK

HOSTS = 12
Connection = psycopg.Connection[tuple[int, ...]]


@pytest.fixture
def bench(pg_schema_url: str) -> Iterator[Bench]:
    made = postgres_bench(pg_schema_url, ManualClock())
    yield made
    made.close()


@pytest.fixture
def outside(pg_schema_url: str) -> Iterator[Connection]:
    with psycopg.connect(pg_schema_url) as connection:
        yield connection


@contextmanager
def running_into(outside: Connection, verb: Callable[[], object]) -> Iterator[None]:
    """The verb waits for what is held outside while this is open, and goes on afterwards."""
    with ThreadPoolExecutor(1) as pool:
        ran = pool.submit(verb)
        while not outside.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchall()[0][0]:
            assert not ran.done(), "it ran into nothing"
            threading.Event().wait(0.005)
        try:
            yield
        finally:
            outside.rollback()
            ran.result()


def hold_turn(outside: Connection, job: int) -> None:
    outside.execute("SELECT pg_advisory_xact_lock(%s, %s)", (TURN_LOCK, job))


def hold_lane(outside: Connection, lane: int) -> None:
    outside.execute("SELECT id FROM lane WHERE id = %s FOR UPDATE", (lane,))


def take(outside: Connection, *tables: str, after: int = 0) -> None:
    for table in tables:
        outside.execute(f"SELECT id FROM {table} WHERE id > %s FOR UPDATE NOWAIT".encode(), (after,))


def in_hand(bench: Bench) -> Worker:
    """A worker that holds a page of each of several hosts."""
    worker = bench.worker(bench.started().id)
    worker.lease()
    worker.enqueue(*(bench.found(f"https://pond-{n}.test/frog", index=n) for n in range(HOSTS)))
    assert len(worker.claim()) == HOSTS
    return worker


def paused(bench: Bench, worker: Worker) -> None:
    bench.ledger.request(worker.job, "pause", actor="ann", because="tea")


VERBS: dict[str, Callable[[Bench, Worker], object]] = {
    "settle": lambda bench, worker: worker.settle(*map(page, list(worker.hand.values())), checkpoint="targets"),
    "finish": lambda bench, worker: worker.ledger.advance(worker.job, worker.control),
    "acknowledge": lambda bench, worker: worker.ledger.acknowledge(worker.job, is_dead=bench.is_dead),
    "rollback": lambda bench, worker: worker.ledger.rollback(worker.job, 1, actor="ann", is_dead=bench.is_dead),
}


@pytest.mark.parametrize("verb", VERBS)
def test_who_may_write_a_checkpoint_waits_for_its_turn_before_it_takes_a_row(
    bench: Bench, outside: Connection, verb: str
) -> None:
    """A claim under a page limit takes its turn first and its rows then: the other way round both would wait."""
    worker = in_hand(bench)
    if verb == "acknowledge":
        paused(bench, worker)
    if verb == "rollback":
        worker.settle(page(next(iter(worker.hand.values()))), checkpoint="targets")
    hold_turn(outside, worker.job)
    with running_into(outside, lambda: VERBS[verb](bench, worker)):
        take(outside, "job", "chunk", "target", "lane", "host")


@pytest.mark.parametrize("ending", ["release", "rescue"])
def test_who_ends_a_lease_takes_every_lane_before_any_host(bench: Bench, outside: Connection, ending: str) -> None:
    worker = in_hand(bench)
    [(lane,)] = bench.ledger.query("SELECT lane FROM target ORDER BY id DESC LIMIT 1")
    ledger, leases = bench.open(), list(worker.leases.values())
    bench.dead.add(worker.owner)
    verbs = {
        "release": lambda: ledger.release(leases),
        "rescue": lambda: ledger.rescue(worker.job, is_dead=bench.is_dead),
    }
    hold_lane(outside, lane)
    with running_into(outside, verbs[ending]):
        take(outside, "lane", after=lane)
        take(outside, "host")


def test_a_settle_takes_lanes_of_what_it_settled_and_of_what_it_found_in_one_order(
    bench: Bench, outside: Connection
) -> None:
    worker = in_hand(bench)
    lanes = dict(bench.ledger.query("SELECT id, lane FROM target"))
    first = min(worker.hand.values(), key=lambda here: lanes[here.id])
    urls = [f"https://pond-{n}.test/toad" for n in range(HOSTS)]
    links = tuple(bench.found(url, index=n) for n, url in enumerate(urls) if url[:15] != first.url[:15])
    hold_lane(outside, lanes[first.id])
    with running_into(outside, lambda: worker.settle(page(first, found=links))):
        take(outside, "lane", after=lanes[first.id])
        take(outside, "host")


def test_a_lane_that_waited_for_a_slot_is_woken_before_the_host_is_told(bench: Bench, outside: Connection) -> None:
    worker = bench.worker(bench.started().id)
    worker.lease()
    worker.enqueue(*(bench.found(f"https://pond.test/frog/{n}", index=n) for n in range(2)))
    [here] = worker.claim(per_host=1)
    [(waiting,)] = bench.ledger.query("SELECT id FROM lane WHERE todo > 0")
    assert worker.claim(per_host=1) == []  # it is told to look again
    hold_lane(outside, waiting)
    with running_into(outside, lambda: worker.settle(page(here), wish=worker.wish(room=0))):
        take(outside, "host")
