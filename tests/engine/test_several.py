"""Several sessions on one job: each works its part, only the holder of the control says "finished", the others stay."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.desk import FAST, MARSH
from engine.test_session import PONDS, Marsh, serve_ponds
from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from holdfast.control import stopping
from holdfast.engine.heartbeat import Heartbeat
from holdfast.engine.liveness import is_dead, this_process
from holdfast.model.exchange import Response
from holdfast.model.job import Options
from holdfast.model.lease import Lease
from holdfast.ports import SessionEnd
from waiting import wait_until


@contextmanager
def at_work(marsh: Marsh, *places: int, workers: int = 2) -> Iterator[list[Future[SessionEnd]]]:
    """Sessions of these places, each in a thread as in a process of its own."""
    sessions = [marsh.session(workers=workers, place=place) for place in places]
    with ThreadPoolExecutor(len(places)) as pool:
        try:
            yield [pool.submit(session.run) for session in sessions]
        finally:
            for session in sessions:
                session.interrupt("drain")


def held_by_hand(marsh: Marsh, want: int) -> tuple[Lease, ...]:
    """Control, plan and so many chunks in the hands of somebody else who lives: this test."""
    marsh.ready()
    other = msgspec.structs.replace(this_process(), session="hand")
    return marsh.ledger.lease(marsh.job.id, other, life_s=30, want=want, is_dead=is_dead)


def released(marsh: Marsh, leases: tuple[Lease, ...], *kinds: str) -> Lease:
    """Give back leases of these kinds; the control lease is the answer."""
    marsh.ledger.release([lease for lease in leases if lease.kind in kinds])
    return next(lease for lease in leases if lease.kind == "control")


def chunks_held(marsh: Marsh) -> Counter[str]:
    return Counter(holder.owner.session for holder in marsh.ledger.holders(marsh.job.id) if holder.kind == "work")


def test_two_sessions_share_the_chunks_and_ask_for_every_page_once(tmp_path: Path) -> None:
    """FRO-12."""
    shares: list[list[int]] = []

    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            wait_until(lambda: len(chunks_held(marsh_view)) == 2, 10, "two holders")
            shares.append(sorted(chunks_held(marsh_view).values()))
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer)
    marsh_view = Marsh(tmp_path, answer)
    with at_work(marsh, 0, 1) as sessions:
        ends = [session.result(30) for session in sessions]
    assert [ended.how for ended in ends] == ["completed", "completed"]
    assert shares == [[8, 8]]
    assert sorted(marsh.fetcher.asked) == sorted(MARSH + path for path in PONDS)
    assert verify(marsh.ledger.query, marsh.job.id) == []


def test_a_session_without_the_control_works_and_stays_until_the_job_is_over(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    lease = released(marsh, held_by_hand(marsh, want=0), "plan")
    with at_work(marsh, 0, 1) as sessions:
        wait_until(lambda: marsh.ledger.books(marsh.job.id)[1].succeeded == 40, 20, "all pages")
        threading.Event().wait(0.6)  # several rounds of asking in vain
        assert not any(session.done() for session in sessions)
        assert marsh.ledger.advance(marsh.job.id, lease) is not None
        assert [session.result(10).how for session in sessions] == ["completed", "completed"]
    assert len(marsh.fetcher.asked) == 40


def test_who_has_run_out_of_work_says_so_and_waits_no_longer_than_it_must(tmp_path: Path) -> None:
    """Somebody else holds the control: told at once, they need not find out. An order ends the longest wait."""
    marsh = Marsh(tmp_path, serve_ponds)
    released(marsh, held_by_hand(marsh, want=0), "plan")
    session, drained = marsh.session(workers=2, place=0), threading.Event()
    rest = marsh.session(workers=2, place=1)
    session.on_drained = drained.set
    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(one.run) for one in (session, rest)]
        assert drained.wait(20)
        wait_until(lambda: marsh.ledger.books(marsh.job.id)[1].succeeded == 40, 20, "all pages")
        for one in (session, rest):
            one.interrupt("drain")
        assert [one.result(10).how for one in working] == ["interrupted", "interrupted"]


def test_nobody_is_finished_while_a_page_of_another_session_may_yield_links(tmp_path: Path) -> None:
    """The first page is slow, so all others are idle: none of them may end, and nobody may say that all is done."""
    slow = threading.Event()

    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            await asyncio.to_thread(slow.wait, 20)
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer)
    with at_work(marsh, 0, 1, 2, workers=3) as sessions:
        wait_until(lambda: marsh.fetcher.asked, 10, "the first page")
        threading.Event().wait(0.6)  # several rounds of asking in vain
        assert not any(session.done() for session in sessions)
        slow.set()
        assert {session.result(20).how for session in sessions} == {"completed"}
    assert len(marsh.fetcher.asked) == 40


def test_a_session_that_finds_everything_held_takes_what_becomes_free(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    leases = held_by_hand(marsh, want=16)
    with at_work(marsh, 0, 1) as sessions:
        threading.Event().wait(0.3)
        assert not any(session.done() for session in sessions)
        marsh.ledger.release(leases)
        assert [session.result(20).how for session in sessions] == ["completed", "completed"]
    assert len(marsh.fetcher.asked) == 40


def test_an_idle_session_hears_a_pause(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    leases = held_by_hand(marsh, want=0)
    with at_work(marsh, 0) as (session,):
        wait_until(lambda: chunks_held(marsh), 10, "its chunks")
        marsh.ledger.request(marsh.job.id, "pause", actor="user", because="tea")
        assert session.result(5).how == "paused"
    marsh.ledger.release(leases)
    assert stopping.pause(marsh.ledger, marsh.job, actor="user").status == "paused"


def test_concurrency_is_the_total_over_the_sessions(tmp_path: Path) -> None:
    in_flight, most = Counter[int](), Counter[int]()

    async def answer(url: str) -> Response:
        own = threading.get_ident()
        in_flight[own] += 1
        most[own] = max(most[own], in_flight[own])
        await asyncio.sleep(0.01)
        in_flight[own] -= 1
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, concurrency=3))
    with at_work(marsh, 0, 1) as sessions:
        assert [session.result(20).how for session in sessions] == ["completed", "completed"]
    assert sorted(most.values()) == [1, 2]


def test_only_who_holds_the_control_counts_the_time_of_the_job(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds, FAST)
    clock = SystemClock()
    beats = [
        Heartbeat(marsh.open, clock, life_s=30, on_beat=lambda *_: None, counts_time=counts) for counts in (True, False)
    ]
    assert beats[0].active_ms() > 0
    assert beats[1].active_ms() == 0
