"""Several worker processes on one job, supervised: the command that the user started holds the job's control chunk,
shows the books, passes orders on, replaces workers that die and says "finished". It fetches nothing itself.

Its workers die with it, and a dead owner's chunks are free at once: the same command goes on whatever was killed.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast import wiring
from holdfast.clock import Clock
from holdfast.config import Settings
from holdfast.config.settings import STOP_GRACE_S
from holdfast.dispatch.crashes import Unexpected
from holdfast.dispatch.local.control_lease import ControlLease
from holdfast.dispatch.local.fork_server import ForkServer, fork_server_gone
from holdfast.dispatch.local.messages import Assignment, settings_sent
from holdfast.dispatch.local.stuck_workers import LOOK_EVERY_MS, StuckWorkers
from holdfast.dispatch.local.worker_pool import ExitedProcess, WorkerPool
from holdfast.engine.liveness import is_dead, is_here
from holdfast.engine.patience import Patience
from holdfast.engine.recovery import REQUESTED_BECAUSE, cancel_rest, opened, walk_on
from holdfast.engine.rescope import judge_on
from holdfast.engine.timekeeper import Timekeeper, stale_because
from holdfast.engine.waits import waited_for
from holdfast.errors import HoldfastError, IllegalMove
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Lease, Rescued
from holdfast.model.spelling import count_of
from holdfast.model.spread import Spread
from holdfast.policy.limits import at_page_limit
from holdfast.ports import ProgressListener, SessionEnd
from holdfast.recipes.catalogue import phases_of

TICK_S = 0.05
HURRY_EVERY_MS = 20  # a worker may run out of work after every page
HOW = {"pause": "paused", "cancel": "cancelled", "drain": "interrupted", "time_out": "timeout"}


class Supervisor:
    """Fulfils ports.Runner."""

    stands_still = False  # no step runs in this process

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        say: Callable[[str], None],
        job: Job,
        progress: ProgressListener,
        fork_server: ForkServer,
        *,
        trigger: str,
    ) -> None:
        self._job, self._progress, self._trigger = job, progress, trigger
        self._settings, self._clock, self._say = settings, clock, say
        self._pool, self._stuck = WorkerPool(fork_server, self._assignment, clock), StuckWorkers()
        self._ledger = wiring.open_ledger(settings)
        self._patience = Patience(clock, settings.outage_s)
        self._patience.say = say
        self._control = ControlLease(job, self._ledger, self._patience, settings, clock)
        self._phases = phases_of(job)
        self._interrupt: str | None = None
        self._ending: str | None = None  # why the pool was dismissed
        self._ending_ms = 0
        self._failure: HoldfastError | None = None
        self._looked_ms = self._hurried_ms = 0
        self._moved: tuple[int, int] = (0, 0)
        self._got: tuple[int, int] = (0, 0)
        self.rescued: Rescued | None = None
        self.not_saved = 0
        self.waiting = ""
        measured = wiring.lock_waits(settings) is not None  # nothing measured must not read as no wait
        self.lock_waits = Spread() if measured else None

    def interrupt(self, why: str) -> None:
        """`pause` (Ctrl-C) or `drain` (SIGTERM). May be called from a signal handler."""
        self._interrupt = self._interrupt or why
        self._patience.hurry()

    def run(self) -> SessionEnd:
        try:
            while self._patience.insist(lambda: judge_on(self._ledger, self._job.id)) is not None:
                if self._interrupt is not None:
                    return self._ended("interrupted")
            self._patience.insist(lambda: self._ledger.rescue(self._job.id, is_dead=is_dead))
            return self._work() if self._control.take() else self._ended("lost")
        finally:
            self._pool.close()
            self._ledger.close()

    def _open_run(self) -> None:
        before, ledger = self._job, self._ledger
        self._job = now = self._patience.insist(lambda: opened(ledger, before, trigger=self._trigger))
        if now.recoveries > before.recoveries:
            self.rescued = Rescued(targets=now.refetched - before.refetched)

    def _work(self) -> SessionEnd:
        self._open_run()
        control, stale_after_s = self._control, self._settings.stale_after_s
        keeper = Timekeeper(self._clock, self._job, asked_ms=control.asked_ms, stale_after_s=stale_after_s)
        control.keep(self._job)
        try:
            self._pool.start()
            while self._ending is None or self._pool.processes:
                self._tend()
                self._obey(keeper)
                if self._ending is None and not control.is_ours(self._pool.pids()):
                    self._dismiss("lost")
                self._look(keeper)
        finally:
            control.let_lapse()
        return self._wind_up()

    def _tend(self) -> None:
        try:
            for exited in self._pool.tend(TICK_S):
                self._reap(exited)
        except Unexpected as error:  # no worker can be forked any more
            self._fail(error)

    def _obey(self, keeper: Timekeeper) -> None:
        """What we were told, or must tell ourselves; a pause is saved before anybody is told to go."""
        if self._interrupt is not None and self._ending is None:
            if self._interrupt == "pause":
                self._request("pause", "interrupt")
            self._dismiss(self._interrupt)
        why = keeper.called() if self._ending is None else None
        if why is not None:
            if why == "time_out":
                self._request("time_out", "time_limit")
            self._dismiss(why)
        over_ms = self._clock.monotonic_ms() - self._ending_ms
        if self._ending is not None and over_ms > (self._settings.pause_deadline_s + STOP_GRACE_S) * 1000:
            self._pool.kill()

    def _dismiss(self, why: str) -> None:
        if self._ending is None:
            self._ending, self._ending_ms = why, self._clock.monotonic_ms()
            self._pool.dismiss()

    def _look(self, keeper: Timekeeper) -> None:
        """Five times a second, and when a worker has run out of work: show the books, and see whether the job is over
        or was asked to stop."""
        now_ms = self._clock.monotonic_ms()
        is_time = now_ms - self._looked_ms >= LOOK_EVERY_MS
        if not is_time and (now_ms - self._hurried_ms < HURRY_EVERY_MS or not self._pool.has_drained()):
            return
        self._hurried_ms = now_ms
        self._looked_ms = now_ms if is_time else self._looked_ms
        control = self._control.usable()
        self._patience.insist(lambda: self._look_at_the_books(control, keeper))
        if is_time and self._ending is None and self._control.is_written():
            self._kill_stuck()

    def _look_at_the_books(self, control: Lease | None, keeper: Timekeeper) -> None:
        job, counts, point = self._ledger.books(self._job.id)
        self.waiting = waited_for(self._ledger, job, counts, self._clock.wall_ms())
        self._progress(job, counts, counts.in_progress, point.number if point else None)
        if self._moved != (moved := (counts.discovered, counts.settled)) or counts.in_progress == 0:
            self._moved = moved
            keeper.moved()
        if self._got != (got := (counts.discovered, counts.succeeded + counts.skipped)):
            self._got = got
            self._pool.got_on()
        self._judge(job, counts, control)

    def _judge(self, job: Job, counts: Counts, control: Lease | None) -> None:
        """Without the control chunk we cannot say "finished"."""
        if job.status != "in_progress" or job.requested is not None:
            self._dismiss(job.requested or job.status)
            return
        if control is None:
            return
        failed, pages_max = "" if job.plan_done else self._plan_failed(), self._job.options.max_pages
        if self._may_be_drained(job, counts, failed):
            ended = self._ledger.advance(job.id, control, phases=self._phases, plan_failed=failed, pages_max=pages_max)
            if ended is None:
                walk_on(self._ledger, job.id)
            elif ended.status != "in_progress":
                self._dismiss(ended.status)

    def _may_be_drained(self, job: Job, counts: Counts, plan_failed: str) -> bool:
        """Whether to ask the ledger what follows: cheap to answer, and asked twice a second. Work of another phase is
        no reason to wait."""
        if at_page_limit(counts.without(self._phases.made), self._job.options.max_pages):
            return True
        several = len(self._phases.names) > 1
        return (job.plan_done or bool(plan_failed)) and (counts.in_progress == 0 if several else counts.left == 0)

    def _plan_failed(self) -> str:
        """What the plan raised, as its present worker reports it: a worker that takes it over runs it again."""
        told = {process.pid: process.plan_failed for process in self._pool.processes.values() if process.plan_failed}
        holders = self._ledger.holders(self._job.id) if told else []
        plans = [holder.owner for holder in holders if holder.kind == "plan" and not holder.lapsed]
        here = [owner.pid for owner in plans if is_here(owner)]
        return next((told[pid] for pid in here if pid in told), "")

    def _kill_stuck(self) -> None:
        """And so replaced."""
        job, ledger = self._job.id, self._ledger
        holders, chunks = self._patience.insist(lambda: (ledger.holders(job), len(ledger.chunk_names(job))))
        for pid in self._stuck.found(holders, self._pool.pids(), chunks):
            self._pool.kill(pid)

    def _reap(self, exited: ExitedProcess) -> None:
        """A worker has ended: read its final report; if it was not told to go, another takes its place."""
        if exited.others:
            self._say(exited.others)
        if exited.final_report is not None:
            self.not_saved += exited.final_report.not_saved
            if self.lock_waits is not None:
                self.lock_waits.join(exited.final_report.spread())
            if exited.final_report.failure is not None:
                self._fail(exited.final_report.failure.error())
        if self._ending is None and self._pool.fork_server.is_gone:
            self._fail(fork_server_gone())
        if self._ending is not None:
            return
        held = self._rescue(exited) if exited.final_report is None else 0
        if not self._pool.refill(exited, held=held):
            self._fail(_cannot_work(self._job, exited))

    def _rescue(self, exited: ExitedProcess) -> int:
        """The dead one's chunks are free at once, and people are told what its death costs: so many pages."""
        rescued = self._patience.insist(lambda: self._ledger.rescue(self._job.id, is_dead=is_dead))
        verb = "is" if rescued.targets == 1 else "are"
        pages = f"{count_of(rescued.targets, 'page')} in flight {verb} fetched again"
        self._say(f"Worker pid {exited.pid} died of {exited.of}; another takes its place. 0 lost, {pages}.")
        return rescued.targets

    def _fail(self, error: HoldfastError) -> None:
        self._failure = self._failure or error
        self._patience.hurry()
        self._dismiss("failure")

    def _request(self, action: str, why: str) -> None:
        try:
            self._patience.insist(
                lambda: self._ledger.request(
                    self._job.id, action, actor="worker", because=REQUESTED_BECAUSE[why], paused_by=why
                )
            )
        except IllegalMove:
            return  # it ended at this very moment

    def _wind_up(self) -> SessionEnd:
        """Give the control back, and carry out what was asked. The last page may have come since the last look."""
        ledger, job = self._ledger, self._job
        stale = stale_because(self._settings.stale_after_s) if self._ending == "stale" else ""
        self._patience.insist(lambda: ledger.advance(job.id, self._control.lease, phases=self._phases, stale=stale))
        self._control.give_back()
        after = self._patience.insist(lambda: ledger.acknowledge(job.id, is_dead=is_dead))
        if after is not None and after.status == "cancelled":
            self._patience.insist(lambda: cancel_rest(ledger, after))
        ended = self._ended(self._ending or "lost")
        if self._failure is not None and ended.job.status != "completed":
            raise self._failure
        return ended

    def _ended(self, how: str) -> SessionEnd:
        """By the ledger's word where the job has ended: its last page, or a pause, may have come after we sent our
        workers away for something else."""
        job, counts, point = self._patience.insist(lambda: self._ledger.books(self._job.id))
        if how == "pause" and job.paused_by == "disk_full":
            how = "disk_full"
        elif job.status != "in_progress":
            how = job.status
        elif how == "stale":
            how = job.requested or "lost"
        return SessionEnd(job, counts, point.number if point else None, HOW.get(how, how))

    def _assignment(self, place: int) -> Assignment:
        return Assignment(
            job=self._job,
            workers=self._pool.fork_server.size,
            place=place,
            settings=settings_sent(self._settings),
        )


def _cannot_work(job: Job, exited: ExitedProcess) -> Unexpected:
    return Unexpected(
        f"Worker processes of {job.name} die again and again and get nothing done, the last of {exited.of}. Nothing "
        "that was saved is lost; the same command goes on",
        hint=exited.others[-2000:],
    )
