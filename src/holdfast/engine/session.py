"""One process working one job, from lease to release: it has a worker, listens to signals, says how it ended.

One of several workers takes its part of the chunks. The holder of the control chunk says "finished". The others stay
until the job is over, even if idle: pages of another worker may yield links into their chunks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec.structs import replace

from holdfast.engine import joblog
from holdfast.engine.assembly import WorkerAssembly
from holdfast.engine.fetchers import Fetchers
from holdfast.engine.group import Committed
from holdfast.engine.heartbeat import Heartbeat
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.engine.liveness import is_dead, this_process
from holdfast.engine.patience import Patience
from holdfast.engine.progress import ProgressReports
from holdfast.engine.recovery import REQUESTED_BECAUSE, cancel_rest, opened, walk_on
from holdfast.engine.rescope import judge_on
from holdfast.engine.session_parts import Parts as Parts
from holdfast.engine.step_threads import StepThreads
from holdfast.engine.timekeeper import Timekeeper, stale_because
from holdfast.engine.worker import Worker
from holdfast.errors import DiskFull, HoldfastError, LedgerUnavailable
from holdfast.model.job import Job
from holdfast.model.lease import Lease, Rescued
from holdfast.model.spread import Spread
from holdfast.policy.leasing import share
from holdfast.ports import (
    LanguageModel,
    Ledger,
    SessionEnd,
)
from holdfast.recipe.blame import sentence

log = logging.getLogger(__name__)

ASK_AGAIN_S = 0.2
ASK_AGAIN_FIRST_S = 0.01  # the first page of a job has links for everybody
HOW = {
    "pause": "paused", "cancel": "cancelled", "drain": "interrupted", "blocked": "paused", "time_out": "timeout",
}  # fmt: skip


class Session:
    """Works one job in the calling thread until it ends, is paused, or is told to stop. Fulfils ports.Runner."""

    lock_waits: Spread | None = None  # not measured: no other process of this job waits for the lock

    def __init__(self, job: Job, parts: Parts) -> None:
        self._job, self._parts = job, parts
        self._owner = msgspec.structs.replace(this_process(), session=secrets.token_hex(4))
        self.patience = Patience(parts.clock, parts.outage_s)
        self._thread = LedgerThread(parts.open_ledger, self.patience)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._heartbeat: Heartbeat | None = None
        self._interrupt: str | None = None
        self._pausing: asyncio.Task[None] | None = None
        self._timer: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._keeper: Timekeeper | None = None
        self._model: LanguageModel | None = None
        self._leases: tuple[Lease, ...] = ()
        self._progress = ProgressReports(job.id, self._thread, parts.clock, parts.progress)
        self._peak = 0  # most in flight at a commit
        self.rescued: Rescued | None = None
        self.not_saved = 0
        self.on_plan_failed: Callable[[str], None] = lambda why: None  # for the holder of the control elsewhere
        self.on_drained: Callable[[], None] = lambda: None  # likewise: perhaps that was the last page
        self._plan_failed = ""  # what of it was told
        self._phases = parts.recipe.phases(job.params)

    @property
    def waiting(self) -> str:
        """For what, as last told."""
        return self._progress.waiting

    @property
    def held_bytes(self) -> tuple[int, int]:
        """Of answers: what steps hold, and what waits for its commit."""
        return (0, 0) if self._worker is None else self._worker.held_bytes

    def run(self) -> SessionEnd:
        try:
            return asyncio.run(self._run())
        except SystemExit as error:  # of a task that a step began: asyncio ends the loop with it
            raise RuntimeError(f"a task that the recipe began raised {sentence(error)}") from error

    @property
    def stands_still(self) -> bool:
        """Whether something does not let go of the event loop, so that no order can reach it."""
        return self._heartbeat is not None and self._heartbeat.is_behind()

    def interrupt(self, why: str) -> None:
        """`pause` (Ctrl-C) or `drain` (SIGTERM). May be called from a signal handler, also before and after `run`."""
        self._interrupt = self._interrupt or why
        self.patience.hurry()
        loop = self._loop  # read once: `run`, on another thread, may be over in between
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it was closed
                loop.call_soon_threadsafe(self._pass_on)

    def _pass_on(self) -> None:
        """Save a pause at once, before the pages in hand are done: a second Ctrl-C then loses nothing either."""
        if self._worker is None or self._interrupt is None or self._loop is None:
            return
        if self._interrupt == "pause" and self._pausing is None:
            self._pausing = self._loop.create_task(self._request("pause", "interrupt"))
        self._worker.stop(self._interrupt)
        if self._interrupt == "drain" and self._parts.workers > 1:
            self._asking = self._loop.create_task(self._hear_why(self._worker))

    async def _hear_why(self, worker: Worker) -> None:
        """The reason to stop is stored already: at a time limit pages in hand have less time."""
        with contextlib.suppress(LedgerUnavailable):
            job = await self._thread.call(lambda ledger: ledger.job(self._job.id))
            if job.requested is not None:
                worker.stop(job.requested)

    async def _run(self) -> SessionEnd:
        """A process that slept past its lease works on, unless another process has taken the job meanwhile."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(StepThreads(self._is_late))
        try:
            ended = await self._lease_and_work()
            while ended.how == "lost" and self._interrupt is None and (self._leases or self._may_wait(ended.job)):
                if not self._leases:
                    await self._parts.clock.wait(ASK_AGAIN_S)
                ended = await self._lease_and_work()
            if ended.how == "lost" and self._interrupt == "drain":
                return replace(ended, how="interrupted")  # it was not taken from us: we were told to stop
            return ended
        finally:
            await self._thread.close()
            self._parts.blobs.close()
            if self._parts.files is not None:
                self._parts.files.close()
            if self._parts.journal is not None:
                self._parts.journal.close()
            self._loop = None  # a late signal must not meet a closed loop

    def _is_late(self) -> bool:
        """Whether what steps left running in threads has had its time. Only a stopping session gives up waiting."""
        deadline_ms = None if self._worker is None else self._worker.orders.deadline_ms
        if deadline_ms is None:
            return self._interrupt is not None
        return self._parts.clock.monotonic_ms() >= deadline_ms

    def _may_wait(self, job: Job) -> bool:
        """One of several workers that finds everything held asks again, while the job goes on."""
        return self._parts.workers > 1 and job.status == "in_progress" and job.requested is None

    async def _lease_and_work(self) -> SessionEnd:
        parts, job = self._parts, self._job
        if not await self._is_judged():
            return await self._ended("drain")
        asked_ms = parts.clock.monotonic_ms()
        rescued_before = job.recoveries, job.refetched
        chunks = len(await self._thread.insist(lambda ledger: ledger.chunk_names(job.id)))
        want = share(parts.workers, chunks, place=parts.place)
        self._leases = await self._thread.insist(
            lambda ledger: ledger.lease(job.id, self._owner, life_s=parts.lease_s, want=want, is_dead=is_dead)
        )
        control = next((lease for lease in self._leases if lease.kind == "control"), None)
        if control is None and (parts.workers == 1 or not self._leases):
            await self._release()
            self._leases = ()
            return await self._ended("lost")
        job = await self._thread.insist(lambda ledger: ledger.job(job.id))
        if control is not None:
            job = await self._thread.insist(partial(opened, job=job, trigger=parts.trigger))
        self._note_rescue(job, rescued_before)
        self._log_start(job, control)
        return await self._work(job, control, asked_ms)

    async def _is_judged(self) -> bool:
        """A changed scope that was cut short is applied first; before that no lease is given. False: told to stop."""
        while await self._thread.insist(lambda ledger: judge_on(ledger, self._job.id)) is not None:
            if self._interrupt is not None:
                return False
        return True

    def _note_rescue(self, job: Job, before: tuple[int, int]) -> None:
        if job.recoveries > before[0]:
            self.rescued = Rescued(targets=job.refetched - before[1])

    def _log_start(self, job: Job, control: Lease | None) -> None:
        journal = self._parts.journal
        if journal is None:
            return
        mode, trigger = "full" if job.run <= 1 else "resume", self._parts.trigger
        alone = control is not None
        joblog.run_started(journal, job, mode=mode, trigger=trigger, worker=str(self._owner), alone=alone)
        if self.rescued is not None:
            joblog.recovered(journal, job, self.rescued)

    async def _work(self, job: Job, control: Lease | None, asked_ms: int) -> SessionEnd:
        parts = self._parts
        heartbeat = Heartbeat(
            parts.open_ledger,
            parts.clock,
            life_s=parts.lease_s,
            on_beat=self._on_beat,
            counts_time=control is not None,  # the job's time runs once, however many work it
            time_is_limited=job.options.time_limit_s is not None,
            on_wake=self._on_wake,
        )
        fetchers, self._model = Fetchers(parts.open_fetcher), parts.open_model()
        try:
            heartbeat.start(self._leases, asked_ms=asked_ms)
            heartbeat.watch(asyncio.get_running_loop(), self._on_standstill)
            self._heartbeat = heartbeat
            self._worker = await self._assembly(job, heartbeat, fetchers).worker()
            self._pass_on()
            if control is not None:
                self._keeper = Timekeeper(parts.clock, job, asked_ms=asked_ms, stale_after_s=parts.stale_after_s)
                self._timer = asyncio.get_running_loop().create_task(self._watch_time(self._keeper, heartbeat))
            await self._progress.tell(self._in_flight)
            how = await self._until_over(self._worker, control)
            if how == "stale":
                how = await self._stale(control)
        except DiskFull:
            how = "disk_full"
            self.not_saved = 0 if self._worker is None else self._worker.not_saved
        finally:
            if self._timer is not None:
                self._timer.cancel()
            try:
                if self._model is not None:
                    await self._model.close()
                await fetchers.close()
            finally:
                heartbeat.stop()  # whatever happened: it would hold the job for as long as this program lives
            await self._progress.told()
        return await self._wind_up(how, heartbeat)

    async def _watch_time(self, keeper: Timekeeper, heartbeat: Heartbeat) -> None:
        """A time-out is a durable request like a pause: no claim commits after it, and any worker carries it out."""
        while (why := keeper.called()) is None:
            await self._parts.clock.wait(keeper.wait_s())
        if self._worker is None or self._worker.orders.stop is not None or not heartbeat.usable():
            return  # it stops already, or slept past its lease, which is not counted: the next start looks at the time
        if why == "time_out":
            self._pausing = asyncio.get_running_loop().create_task(self._request("time_out", "time_limit"))
        self._worker.stop(why)

    def _assembly(self, job: Job, heartbeat: Heartbeat, fetchers: Fetchers) -> WorkerAssembly:
        return WorkerAssembly(
            parts=self._parts,
            job=job,
            thread=self._thread,
            patience=self.patience,
            owner=str(self._owner),
            leases=self._leases,
            phases=self._phases,
            heartbeat=heartbeat,
            fetchers=fetchers,
            model=self._model,
            pages_max=self._job.options.max_pages,
            on_commit=self._on_commit,
        )

    async def _until_over(self, worker: Worker, control: Lease | None) -> str:
        """Drained is not finished: the ledger says whether the books balance, and only to the holder of the control."""
        wait_s, taken = ASK_AGAIN_FIRST_S, 0
        while await worker.run():
            ended = await self._advanced(control)
            if ended is not None:
                return ended.status
            if worker.planner is not None:
                await self._thread.insist(worker.planner.look)
            if worker.taken > taken:
                wait_s, taken = ASK_AGAIN_FIRST_S, worker.taken
                self.on_drained()
            if control is not None:
                await self._thread.insist(lambda ledger: walk_on(ledger, self._job.id))
            await worker.adopt()
            await worker.wait(wait_s)
            wait_s = min(2 * wait_s, ASK_AGAIN_S)
        if worker.orders.stop == "drain" and control is not None:  # perhaps the last page came in its grace
            ended = await self._advanced(control)
            if ended is not None:
                return ended.status
        return worker.orders.stop or "lost"

    async def _stale(self, control: Lease | None) -> str:
        """How a stale job ends: as the ledger says. A pause or the last page may come first."""
        ended = await self._advanced(control, stale=stale_because(self._parts.stale_after_s))
        if ended is not None:
            return ended.status
        job = await self._thread.insist(lambda ledger: ledger.job(self._job.id))
        return job.requested or "lost"

    async def _advanced(self, control: Lease | None, stale: str = "") -> Job | None:
        """The job if it is over. The holder of the control has the ledger move it first, to its next phase or its end;
        the others look how it stands, since it is moved elsewhere."""
        planner = None if self._worker is None else self._worker.planner
        failed, pages_max = "" if planner is None else planner.failed, self._job.options.max_pages
        if control is None and failed != self._plan_failed:
            self._plan_failed = failed
            self.on_plan_failed(failed)

        def look(ledger: Ledger) -> Job | None:
            if control is None:
                return ledger.job(self._job.id)
            return ledger.advance(
                self._job.id, control, phases=self._phases, plan_failed=failed, pages_max=pages_max, stale=stale
            )

        job = await self._thread.insist(look)
        return None if job is None or job.status == "in_progress" else job

    def _on_wake(self) -> None:
        """From the heartbeat's thread, which runs also while a step does not let go of the loop."""
        if self._keeper is not None:
            self._keeper.awake()

    def _on_standstill(self) -> None:
        """From the heartbeat's thread: something does not let go of the event loop. It is told which page, if one."""
        loop, worker = self._loop, self._worker
        url = None if loop is None or worker is None else worker.worked_by(asyncio.current_task(loop))
        log.warning(
            "%s keeps everything else in this process waiting. Its lease is not renewed; when that has run out, "
            "another worker takes over and tries this page alone. A step that computes for long belongs into a thread: "
            "await asyncio.to_thread(…)",
            f"a step of {url}" if url else "something",
        )

    def _on_beat(self, asked: tuple[Lease, ...], kept: tuple[Lease, ...]) -> None:
        """From the heartbeat's thread."""
        lost = {lease.chunk for lease in asked} - {lease.chunk for lease in kept}
        requested = next((lease.requested for lease in kept if lease.requested), None)
        if self._loop is not None and self._worker is not None and (lost or requested):
            self._loop.call_soon_threadsafe(self._worker.heard, lost, requested)

    def _on_commit(self, committed: Committed, in_flight: int) -> None:
        self._peak = max(self._peak, in_flight)
        waits = in_flight == 0 and not committed.settled.claimed  # for a moment that the ledger knows: a Retry-After
        if self._keeper is not None and (committed.done or waits):
            self._keeper.moved()
        self._progress.after_commit(self._in_flight)

    def _in_flight(self) -> int:
        return self._worker.in_flight if self._worker else 0

    async def _wind_up(self, how: str, heartbeat: Heartbeat) -> SessionEnd:
        """Tell the ledger the last of the active time, give the chunks back, and carry out what was asked."""
        if how == "disk_full":
            self._parts.make_room()
        if how in ("disk_full", "blocked"):
            await self._request("pause", how, "" if self._worker is None else self._worker.orders.because)
        for asked in (self._pausing, self._asking):
            if asked is not None:
                await asked
        await self._release(heartbeat.active_ms())
        job = await self._thread.insist(lambda ledger: ledger.acknowledge(self._job.id, is_dead=is_dead))
        if job is not None and job.status == "cancelled":
            cancelled = job
            await self._thread.insist(lambda ledger: cancel_rest(ledger, cancelled))
        return await self._ended(how)

    async def _request(self, action: str, why: str, because: str = "") -> None:
        because = because or REQUESTED_BECAUSE[why]

        def ask(ledger: Ledger) -> None:
            try:
                ledger.request(self._job.id, action, actor="worker", because=because, paused_by=why)
            except HoldfastError as refused:
                if refused.code not in ("illegal_move", "disk_full"):
                    raise

        await self._thread.insist(ask)

    async def _release(self, active_ms: int = 0) -> None:
        leases, life_s = self._leases, self._parts.lease_s
        if active_ms:
            with contextlib.suppress(LedgerUnavailable):  # repeated, it might be counted twice
                await self._thread.call(lambda ledger: ledger.renew(leases, life_s=life_s, active_ms=active_ms))
        await self._thread.insist(lambda ledger: ledger.release(leases))

    async def _ended(self, how: str) -> SessionEnd:
        job, counts, point = await self._thread.insist(lambda ledger: ledger.books(self._job.id))
        if how == "lost" and job.status in ("paused", "cancelled"):
            how = job.status  # taken away by a rollback or a cancel: this session does not ask for it again
        number, how = point.number if point else None, HOW.get(how, how)
        if self._parts.journal is not None and self._leases:
            alone = any(lease.kind == "control" for lease in self._leases)
            joblog.run_ended(self._parts.journal, job, counts, how=how, checkpoint=number, peak=self._peak, alone=alone)
        return SessionEnd(job, counts, number, how)
