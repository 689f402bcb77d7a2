"""A job that fetches nothing says what it waits for, until when, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.bench import MARSH, Bench, sqlite_bench
from conformance.verdicts import retry
from conformance.worker import Worker
from engine.desk import FAST, page
from engine.test_session import Marsh
from holdfast.clock import ManualClock
from holdfast.engine.session import Session
from holdfast.engine.waits import hosts_held, waited_for
from holdfast.model.exchange import Response
from holdfast.model.host import KeptRobots
from holdfast.policy.waiting import clock_time


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


def said(bench: Bench, job: int) -> str:
    now, counts, _ = bench.ledger.books(job)
    return waited_for(bench.ledger, now, counts, bench.clock.wall_ms())


def in_s(bench: Bench, seconds: int) -> str:
    return clock_time(bench.clock.wall_ms() + 1000 * seconds)


def settled(bench: Bench, **more: Any) -> Worker:
    worker = bench.working(pages=1)
    worker.settle(*(retry(here, **more) for here in worker.claim()))
    return worker


def test_a_host_that_asked_for_patience(bench: Bench) -> None:
    worker = settled(bench, hold_host_ms=190_000)
    until = in_s(bench, 190)
    assert (
        said(bench, worker.job)
        == f"waiting for marsh.test until {until} (it asked us to wait: 429, 5xx or a block page)"
    )
    bench.clock.advance(189)
    assert said(bench, worker.job) == ""  # soon enough


def test_a_host_that_is_left_alone_is_named_though_others_are_asked(bench: Bench) -> None:
    worker = settled(bench, hold_host_ms=190_000)
    job, until = bench.job(worker.job), in_s(bench, 190)
    held = hosts_held(bench.ledger, job, bench.clock.wall_ms())
    assert held == [f"marsh.test is left alone until {until}, 1 pending there"]
    assert hosts_held(bench.ledger, bench.submitted("pond"), bench.clock.wall_ms()) == []


def test_a_target_whose_next_attempt_is_due_later(bench: Bench) -> None:
    worker = settled(bench, wait_ms=20_000, because="network_error: refused; attempt 1 failed, tried again")
    until = in_s(bench, 20)
    assert said(bench, worker.job).startswith(f"waiting for marsh.test until {until} (network_error: refused; ")


def test_a_host_that_rests_after_many_failures(bench: Bench) -> None:
    worker = bench.working(pages=6)
    worker.settle(*(retry(here, code="network_error") for here in worker.claim()))
    assert "it failed again and again, and is left alone" in said(bench, worker.job)


def test_a_crawl_delay(bench: Bench) -> None:
    worker = bench.working(pages=2)
    kept = KeptRobots(status=200, crawl_delay_ms=30_000)
    bench.ledger.keep_robots(MARSH, "marsh.test", "holdfast", kept)
    [here] = worker.claim(room=1)
    worker.settle(retry(here))
    assert said(bench, worker.job).endswith("(the Crawl-delay of its robots.txt, 30s)")


def test_nothing_is_waited_for_while_a_page_is_in_hand_or_the_job_stands(bench: Bench) -> None:
    worker = bench.working(pages=2)
    worker.claim(room=1)
    assert said(bench, worker.job) == ""
    assert said(bench, bench.submitted("pond").id) == ""


def test_whoever_works_the_job_tells_it(tmp_path: Path) -> None:
    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            return page(url, "/pond/1")
        return Response(url=url, status=429, headers=(("retry-after", "600"),), body=b"")

    told: list[str] = []
    session: Session

    def listen(*_: object) -> None:
        told.append(session.waiting)
        if session.waiting:
            session.interrupt("drain")

    session = Marsh(tmp_path, answer, FAST).session(progress=listen)
    assert session.run().how == "interrupted"
    assert told[-1].startswith("waiting for marsh.test until ")
