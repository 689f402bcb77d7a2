"""A session works one job from lease to release: here over a real SQLite ledger and a web that is a function."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from engine.desk import FAST, MARSH, FunctionFetcher, MemoryBlobs, page
from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from holdfast.control import stopping
from holdfast.engine import recovery
from holdfast.engine.liveness import boot_id, is_dead, this_process
from holdfast.engine.session import Parts, Session
from holdfast.errors import DiskFull, FetchError, LedgerUnavailable
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.claim import Wish
from holdfast.model.exchange import Response
from holdfast.model.job import Job, JobSpec, Options
from holdfast.model.keys import seed_address
from holdfast.model.lease import Lease, Owner
from holdfast.model.outcome import Body, BodyRef, PlanBatch
from holdfast.ports import SessionEnd
from holdfast.recipe import Context
from holdfast.recipes.site.recipe import SiteRecipe
from waiting import wait_until

Answer = Callable[[str], Awaitable[Response]]
ONE_ATTEMPT = msgspec.structs.replace(FAST, max_attempts=1)
PONDS = {f"/pond/{n}": [f"/pond/{3 * n + k}" for k in (1, 2, 3) if 3 * n + k < 40] for n in range(40)}


class Marsh:
    """A job on a small site, and everything to run sessions on it."""

    def __init__(self, folder: Path, answer: Answer, options: Options = FAST, *, max_depth: int | None = None) -> None:
        self.path = folder / "ledger.db"
        self.fetcher = FunctionFetcher(answer)
        self.ledger = self.open()
        recipe = SiteRecipe(SystemClock())
        params = recipe.check({"seeds": [MARSH + "/pond/0"], "max_depth": max_depth})
        spec = JobSpec(
            recipe="site", name="marsh", identity=recipe.identity(params), params=params, options=options,
            chunking=recipe.chunking(params),
        )  # fmt: skip
        self.job = self.ledger.submit(spec)[0]

    def open(self) -> SqliteLedger:
        return SqliteLedger.open(self.path, SystemClock(), boot_id())

    def session(self, **changes: object) -> Session:
        self.job = self.ready()
        parts = Parts(
            open_ledger=self.open, open_fetcher=lambda _name: self.fetcher, blobs=MemoryBlobs(),
            recipe=SiteRecipe(SystemClock()), clock=SystemClock(), progress=lambda *_: None, has_room=lambda: True,
            make_room=lambda: None, random=Random(7), lease_s=30.0, stop_deadline_s=5.0, trigger="cli",
        )  # fmt: skip
        return Session(self.job, replace(parts, **changes))  # type: ignore[arg-type]

    def ready(self) -> Job:
        job = self.ledger.books(self.job.id)[0]
        row = recovery.outlook(self.ledger, job, recipe_known=True, asked=True)
        return recovery.make_ready(self.ledger, job, row, actor="user")

    def run(self, **changes: object) -> SessionEnd:
        return self.session(**changes).run()


async def serve_ponds(url: str) -> Response:
    path = url.removeprefix(MARSH)
    return page(url, *PONDS[path])


def test_a_site_is_crawled_and_every_page_is_asked_for_once(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    ended = marsh.run()
    assert (ended.how, ended.job.status, ended.job.health) == ("completed", "completed", "ok")
    assert ended.counts.succeeded == 40
    assert sorted(marsh.fetcher.asked) == sorted(MARSH + path for path in PONDS)


def test_pages_that_we_had_no_descriptors_for_spend_no_attempt_and_are_fetched_when_there_are_some(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """D5."""
    refused = Counter[str]()

    async def answer(url: str) -> Response:
        if refused[url] < 4:
            refused[url] += 1
            raise FetchError("no_resources", "no socket could be opened: Too many open files")
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, ONE_ATTEMPT, max_depth=0)
    ended = marsh.run()
    assert (ended.job.status, ended.counts.succeeded, ended.counts.failed) == ("completed", 1, 0)
    [row] = marsh.ledger.targets(marsh.job.id, where=[("status", True, ("succeeded",))])
    assert row.attempts == 1
    tries = marsh.ledger.history(marsh.job.id, target=row.id)[1]
    assert [each.outcome for each in tries] == ["handed_back"] * 4 + ["succeeded"]
    waits = [each.began_at - before.ended_at for before, each in pairwise(tries)]
    assert all(wait >= wanted for wait, wanted in zip(waits, (250, 500, 1000, 2000), strict=True)), waits
    assert "no_resources: no socket could be opened: Too many open files; nothing is fetched for 0.25 s" in caplog.text


def test_a_page_that_keeps_the_loop_longer_than_its_lease_is_saved_where_nobody_else_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """PAU-16: it is told which, its step goes on, also with something to wait for, and nobody is suspect."""

    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            time.sleep(4)  # noqa: ASYNC251 - the fault itself
            await asyncio.sleep(0.1)
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, ONE_ATTEMPT)
    ended = marsh.run(lease_s=1.5)
    assert (ended.how, ended.counts.succeeded, ended.job.recoveries) == ("completed", 40, 0)
    assert f"a step of {MARSH}/pond/0 keeps everything else in this process waiting" in caplog.text
    assert len(marsh.fetcher.asked) == 40


def test_a_pause_from_elsewhere_lets_pages_in_hand_finish_and_claims_nothing_more(tmp_path: Path) -> None:
    """PAU-01, PAU-02, L11."""
    reached, go_on = threading.Event(), asyncio.Event()

    async def answer(url: str) -> Response:
        if url.endswith("/pond/5"):
            reached.set()
            await go_on.wait()
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer)
    session = marsh.session()
    asked_at_pause: list[int] = []

    def pause() -> None:
        assert reached.wait(10)
        other = marsh.open()
        other.request(marsh.job.id, "pause", actor="user", because="tea")
        asked_at_pause.append(len(marsh.fetcher.asked))
        assert session._loop is not None
        session._loop.call_soon_threadsafe(go_on.set)

    thread = threading.Thread(target=pause)
    thread.start()
    ended = session.run()
    thread.join()
    assert (ended.job.status, ended.job.paused_by, ended.job.requested) == ("paused", "user", None)
    assert ended.counts.in_progress == 0
    assert len(marsh.fetcher.asked) - asked_at_pause[0] <= 2 * FAST.concurrency
    assert marsh.run().counts.succeeded == 40
    assert len(marsh.fetcher.asked) == len(set(marsh.fetcher.asked)), "a page recorded as done was fetched again"


def test_what_is_asked_back_of_a_job_that_is_worked_is_fetched_though_its_asker_died(tmp_path: Path) -> None:
    """L10: the exclusion is gone, its removal was killed before anything was put back."""

    async def answer(url: str) -> Response:
        if url.endswith("/pond/38"):
            await asyncio.to_thread(remove)
        return await serve_ponds(url)

    def remove() -> None:
        other = marsh.open()
        other.include(marsh.job.id, 1, actor="user")
        other.close()

    marsh = Marsh(tmp_path, answer)
    marsh.ledger.exclude(marsh.job.id, "/pond/2*", actor="user")
    ended = marsh.run()
    assert (ended.job.status, ended.counts.succeeded, ended.counts.skipped) == ("completed", 40, 0)
    assert list(verify(marsh.ledger.query, marsh.job.id)) == []


def _interrupting(tmp_path: Path, why: str, options: Options = FAST) -> tuple[Marsh, SessionEnd]:
    async def answer(url: str) -> Response:
        if url.endswith("/pond/7"):
            session.interrupt(why)
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, options)
    session = marsh.session()
    return marsh, session.run()


def test_ctrl_c_pauses_and_says_who_did(tmp_path: Path) -> None:
    """JOB-12."""
    marsh, ended = _interrupting(tmp_path, "pause")
    assert (ended.how, ended.job.status, ended.job.paused_by) == ("paused", "paused", "interrupt")
    assert marsh.run().counts.succeeded == 40


def test_a_drained_session_leaves_the_job_to_the_next_worker(tmp_path: Path) -> None:
    marsh, ended = _interrupting(tmp_path, "drain")
    assert (ended.how, ended.job.status, ended.counts.in_progress) == ("interrupted", "in_progress", 0)
    assert marsh.ledger.holders(marsh.job.id) == []
    assert marsh.run().counts.succeeded == 40


def test_the_last_page_that_comes_after_the_order_to_drain_completes_the_job(tmp_path: Path) -> None:
    """Nothing is left to do: whoever was told to go says so, and nobody is needed to find it out."""

    async def answer(url: str) -> Response:
        session.interrupt("drain")
        await asyncio.sleep(0)  # the worker hears it, which was scheduled first
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, max_depth=0)
    session = marsh.session()
    ended = session.run()
    assert (ended.how, ended.job.status, ended.counts.succeeded) == ("completed", "completed", 1)
    assert marsh.ledger.holders(marsh.job.id) == []


def test_a_page_that_outlasts_the_pause_deadline_is_handed_back_with_its_attempt(tmp_path: Path) -> None:
    """E10: pausing never waits for ever; the interrupted page has spent no attempt."""

    async def answer(url: str) -> Response:
        if url.endswith("/pond/3"):
            session.interrupt("pause")
            await asyncio.Event().wait()
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer)
    session = marsh.session(stop_deadline_s=0.2)
    assert session.run().job.status == "paused"
    (row,) = marsh.ledger.targets(marsh.job.id, where=[("url", True, (MARSH + "/pond/3",))])
    assert (row.status, row.attempts) == ("pending", 0)


def test_a_second_session_on_a_worked_job_gets_nothing(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    session = marsh.session()
    held = marsh.ledger.lease(marsh.job.id, this_process(), life_s=30, want=16, is_dead=is_dead)
    assert session.run().how == "lost"
    assert marsh.fetcher.asked == []
    marsh.ledger.release(held)


def test_a_full_disk_pauses_the_job_and_loses_nothing(tmp_path: Path) -> None:
    """D2: what could not be saved is fetched again after space was freed; attempts are refunded."""
    marsh = Marsh(tmp_path, serve_ponds)
    ended = marsh.run(blobs=_FullBlobs(pages=9))
    assert (ended.how, ended.job.status, ended.job.paused_by) == ("disk_full", "paused", "disk_full")
    assert ended.counts.in_progress == 0
    assert marsh.run().counts.succeeded == 40


class _FullBlobs(MemoryBlobs):
    def __init__(self, pages: int) -> None:
        super().__init__()
        self._room = pages

    def append(self, bodies: list[Body]) -> list[BodyRef]:  # type: ignore[override]
        if len(self.kept) + len(bodies) > self._room:
            raise DiskFull
        return super().append(bodies)


def test_below_the_free_space_limit_nothing_is_claimed(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds)
    ended = marsh.run(has_room=lambda: False)
    assert (ended.job.status, ended.job.paused_by, marsh.fetcher.asked) == ("paused", "disk_full", [])


def test_a_page_that_fails_is_failed_with_its_code_and_the_rest_goes_on(tmp_path: Path) -> None:
    async def answer(url: str) -> Response:
        if url.endswith("/pond/39"):
            raise FetchError("network_error", "reset by the heron")
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, max_attempts=1))
    ended = marsh.run()
    assert (ended.job.status, ended.job.health, ended.counts.failed_by) == (
        "completed",
        "partial",
        {"network_error": 1},
    )


def test_a_step_that_raises_is_the_targets_failure(tmp_path: Path) -> None:
    async def answer(url: str) -> Response:
        if url.endswith("/pond/38"):
            raise ZeroDivisionError("no frogs")
        return await serve_ponds(url)

    ended = Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, max_attempts=1)).run()
    assert ended.counts.failed_by == {"recipe_error": 1}


@pytest.mark.parametrize(
    "raised",
    [asyncio.CancelledError(), SystemExit(), SystemExit("no frogs"), KeyboardInterrupt(), GeneratorExit()],
    ids=repr,
)
def test_a_step_that_raises_what_ends_programs_is_the_targets_failure_too(
    tmp_path: Path, raised: BaseException
) -> None:
    """A task of its own that was cancelled is not ours at its deadline: it was handed back, and fetched for ever."""
    tries = 0

    async def answer(url: str) -> Response:
        nonlocal tries
        if url.endswith("/pond/38"):
            tries += 1
            if tries < 4:
                raise raised
        return await serve_ponds(url)

    ended = Marsh(tmp_path, answer, ONE_ATTEMPT).run()
    assert (ended.how, tries, ended.counts.failed_by) == ("completed", 1, {"recipe_error": 1})


class Stuck(FunctionFetcher):
    async def close(self) -> None:
        raise OSError(24, "Too many open files")


def refuses(_name: str) -> FunctionFetcher:
    raise OSError(24, "Too many open files")


@pytest.mark.parametrize("open_fetcher", [refuses, lambda _name: Stuck(serve_ponds)], ids=["open", "close"])
def test_a_session_that_cannot_open_or_close_its_fetcher_leaves_no_heartbeat_behind(
    tmp_path: Path, open_fetcher: Callable[[str], FunctionFetcher]
) -> None:
    """It would renew the lease for as long as the program lives, and nobody could ever work the job again."""
    marsh = Marsh(tmp_path, serve_ponds)
    with pytest.raises(OSError, match="Too many open files"):
        marsh.run(open_fetcher=open_fetcher, lease_s=0.5)
    assert "heartbeat" not in {thread.name for thread in threading.enumerate()}
    if open_fetcher is refuses:
        wait_until(lambda: marsh.run().how == "completed", 10)


class Ending(Session):
    """Its run is over between any two looks at its loop."""

    looks: ClassVar[list[asyncio.AbstractEventLoop | None]] = []

    @property
    def _loop(self) -> asyncio.AbstractEventLoop | None:
        return self.looks.pop() if self.looks else None

    @_loop.setter
    def _loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.looks[:] = [loop]


def test_an_interrupt_from_another_thread_may_meet_the_end_of_the_run(tmp_path: Path) -> None:
    session = Marsh(tmp_path, serve_ponds).session()
    over = asyncio.new_event_loop()
    over.close()
    session.__class__ = Ending
    session._loop = over
    session.interrupt("drain")


def test_a_job_whose_only_seed_failed_is_failed(tmp_path: Path) -> None:
    async def answer(url: str) -> Response:
        raise FetchError("dns_error", "no such marsh")

    ended = Marsh(tmp_path, answer, Options(delay_ms=0, max_attempts=1)).run()
    assert (ended.how, ended.job.status, ended.job.stop_reason) == ("failed", "failed", "seeds_failed")


def test_a_retried_page_succeeds_on_its_second_attempt(tmp_path: Path) -> None:
    failed: set[str] = set()

    async def answer(url: str) -> Response:
        if url.endswith("/pond/11") and url not in failed:
            failed.add(url)
            raise FetchError("network_error", "once")
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer)
    assert marsh.run().counts.succeeded == 40
    (row,) = marsh.ledger.targets(marsh.job.id, where=[("url", True, (MARSH + "/pond/11",))])
    tries = marsh.ledger.history(marsh.job.id, target=row.id)[1]
    assert [item.outcome for item in tries] == ["retry", "succeeded"]


def test_suspects_of_a_death_are_worked_one_at_a_time(tmp_path: Path) -> None:
    """TGT-06: after a death in company each page it had in hand is alone in flight."""
    marsh = Marsh(tmp_path, serve_ponds)
    marsh.ready()
    dead = owner_with(pid=2**22 + 1)
    leases = marsh.ledger.lease(marsh.job.id, dead, life_s=30, want=16, is_dead=is_dead)
    plan_ponds(marsh, leases, range(40))
    claim_some(marsh, leases, 12)
    in_flight, most = 0, [0]
    suspects = {row.url for row in marsh.ledger.targets(marsh.job.id, where=[("status", True, ("in_progress",))])}

    async def answer(url: str) -> Response:
        nonlocal in_flight
        in_flight += 1
        await asyncio.sleep(0.02)  # long enough for company, if the engine allows it, to be seen
        if url in suspects:
            most[0] = max(most[0], in_flight)
        in_flight -= 1
        return await serve_ponds(url)

    marsh.fetcher = FunctionFetcher(answer)
    ended = marsh.run()
    assert len(suspects) == 12
    assert most[0] == 1
    assert ended.counts.succeeded == 40
    assert ended.job.refetched == 12


def owner_with(pid: int) -> Owner:
    return msgspec.structs.replace(this_process(), pid=pid, started=1)


def plan_ponds(marsh: Marsh, leases: Sequence[Lease], numbers: Iterable[int], job: int | None = None) -> None:
    context = Context(params=marsh.job.params, salt=marsh.ledger.salt(), chunking="key")
    plan = next(lease for lease in leases if lease.kind == "plan")
    found = tuple(context.found(seed_address(f"{MARSH}/pond/{n}"), depth=0) for n in numbers)
    marsh.ledger.enqueue(
        job or marsh.job.id,
        PlanBatch.freeze(
            chunk=plan.chunk, epoch=plan.epoch, no=plan.no + 1, cursor=0, next_cursor=1, done=True, found=found
        ),
    )


def claim_some(marsh: Marsh, leases: Sequence[Lease], room: int, job: int | None = None) -> None:
    work = tuple(lease for lease in leases if lease.kind == "work")
    marsh.ledger.settle(job or marsh.job.id, (), Wish(leases=work, room=room, delay_ms=0, per_host=64))


def test_with_a_depth_limit_a_page_found_by_a_long_way_first_is_not_lost(tmp_path: Path) -> None:
    """FRO-04: the short way answers late; judged by the long way alone, the island would be too deep."""
    links = {"/pond/0": ["/quick", "/slow"], "/quick": ["/reeds"], "/reeds": ["/pond"], "/slow": ["/pond"],
             "/pond": ["/island"], "/island": ["/beyond"]}  # fmt: skip
    released = asyncio.Event()

    async def answer(url: str) -> Response:
        path = url.removeprefix(MARSH)
        if path == "/slow":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(released.wait(), 1.0)
        if path == "/pond":  # found by the long way: only now the short way answers
            released.set()
        return page(url, *links.get(path, []))

    marsh = Marsh(tmp_path, answer, max_depth=3)
    ended = marsh.run()
    assert ended.counts.succeeded == 6
    assert ended.counts.skipped_by == {"excluded": 1}
    depths = {row.url.removeprefix(MARSH): row.depth for row in marsh.ledger.targets(marsh.job.id)}
    assert depths == {"/pond/0": 0, "/quick": 1, "/slow": 1, "/reeds": 2, "/pond": 2, "/island": 3, "/beyond": 4}


def test_the_slots_of_another_jobs_dead_worker_do_not_stop_this_one(tmp_path: Path) -> None:
    """A host's slots are shared by all jobs; a crawl that was killed must not keep them for ever."""
    marsh = Marsh(tmp_path, serve_ponds, Options(delay_ms=0, per_host=2))
    spec = JobSpec(recipe="site", name="other", identity="site:other", params={"seeds": [MARSH]}, chunking="key")
    other = marsh.ledger.move(marsh.ledger.submit(spec)[0].id, "start", actor="user", because="test")
    leases = marsh.ledger.lease(other.id, owner_with(pid=2**22 + 1), life_s=30, want=16, is_dead=is_dead)
    plan_ponds(marsh, leases, range(2), job=other.id)
    claim_some(marsh, leases, 2, job=other.id)
    assert marsh.run().counts.succeeded == 40


def test_a_failed_job_goes_on_after_the_cause_was_mended(tmp_path: Path) -> None:
    """Exit code 8 says: the same command, after the fix."""
    is_up = False

    async def answer(url: str) -> Response:
        if not is_up:
            raise FetchError("dns_error", "no such marsh")
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, max_attempts=1))
    assert marsh.run().job.status == "failed"
    is_up = True
    ended = marsh.run()
    assert (ended.job.status, ended.counts.succeeded, ended.counts.failed) == ("completed", 40, 0)
    assert verify(marsh.ledger.query, marsh.job.id) == []


def test_what_was_claimed_is_handed_back_when_its_host_asks_for_patience(tmp_path: Path) -> None:
    """ledger.md f: Retry-After also concerns what waits in the worker's queue."""

    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            return page(url, *(f"/pond/{n}" for n in range(1, 9)))
        session.interrupt("drain")
        raise FetchError("http_429", "slow down", status=429, retry_after_s=60)

    marsh = Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, concurrency=1))
    session = marsh.session()
    session.run()
    assert len(marsh.fetcher.asked) == 2
    assert marsh.ledger.query("SELECT count(*) FROM attempt WHERE outcome = 'handed_back'")[0][0] >= 1


def test_the_delay_is_kept_between_the_starts_of_fetches(tmp_path: Path) -> None:
    """Though claims of a host may have waited in the queue: never sooner than the delay less its jitter."""
    starts: list[int] = []

    async def answer(url: str) -> Response:
        starts.append(SystemClock().monotonic_ms())
        return page(url, "/pond/1", "/pond/2", "/pond/3", "/pond/4")

    Marsh(tmp_path, answer, Options(delay_ms=50, jitter=0.2, per_host=8, concurrency=1)).run()
    assert len(starts) == 5
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 39


@pytest.mark.parametrize(("by", "status"), [("rollback", "paused"), ("cancel", "cancelled")])
def test_a_session_whose_job_is_taken_away_ends_as_the_job_did(tmp_path: Path, by: str, status: str) -> None:
    """E18: what it has in hand is refused, and it does not ask for the job again."""

    def take_away() -> None:
        with contextlib.closing(marsh.open()) as ledger:
            if by == "rollback":
                ledger.rollback(marsh.job.id, 1, actor="ann", is_dead=lambda owner: False)
            else:
                stopping.cancel(ledger, marsh.job, actor="ann", now=True)

    async def answer(url: str) -> Response:
        if not marsh.fetcher.asked[1:]:
            session.interrupt("pause")  # which writes the first checkpoint
        elif not marsh.fetcher.asked[2:]:
            await asyncio.to_thread(take_away)
        return await serve_ponds(url)

    marsh = Marsh(tmp_path, answer, msgspec.structs.replace(FAST, concurrency=1))
    session = marsh.session()
    assert session.run().how == "paused"
    asked = len(marsh.fetcher.asked)
    ended = marsh.run()
    assert (ended.how, ended.job.status, ended.counts.succeeded) == (status, status, asked)
    assert verify(marsh.ledger.query, marsh.job.id) == []


def test_fetches_of_a_lost_chunk_are_given_up(tmp_path: Path) -> None:
    """E5: the new owner fetches the page; the old one stops asking the site for it."""
    given_up = []

    async def answer(url: str) -> Response:
        if url.endswith("/pond/0"):
            return await serve_ponds(url)
        assert session._worker is not None
        session._worker.heard(set(session._worker.group.leases), None)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            given_up.append(url)
            session.interrupt("drain")
            raise
        raise AssertionError(url)

    marsh = Marsh(tmp_path, answer)
    session = marsh.session(stop_deadline_s=600.0)  # the pause's deadline would cancel them too
    session.run()
    assert given_up


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_no_more_pages_are_in_flight_than_the_job_allows(tmp_path: Path, concurrency: int) -> None:
    in_flight, most = 0, [0]

    async def answer(url: str) -> Response:
        nonlocal in_flight
        in_flight += 1
        most[0] = max(most[0], in_flight)
        await asyncio.sleep(0.001)
        in_flight -= 1
        return await serve_ponds(url)

    Marsh(tmp_path, answer, Options(delay_ms=0, per_host=64, concurrency=concurrency)).run()
    assert most[0] == concurrency


def test_who_is_told_to_go_after_its_lease_has_lapsed_is_interrupted_and_not_busy(tmp_path: Path) -> None:
    """An outage lets the lease lapse, and then comes a SIGTERM: nobody else has the job."""
    sessions: list[Session] = []

    async def never_in_time(url: str) -> Response:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:  # the worker has seen that its lease is over
            sessions[0].interrupt("drain")
            raise
        return page(url)

    marsh = Marsh(tmp_path, never_in_time)
    first = [marsh.open]

    def open_ledger() -> SqliteLedger:
        if first:
            return first.pop()()
        raise LedgerUnavailable("the heartbeat's connection")

    sessions.append(marsh.session(lease_s=0.5, open_ledger=open_ledger))
    assert sessions[0].run().how == "interrupted"
