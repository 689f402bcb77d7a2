"""Working a job from Python: in a thread of its own, so that notebooks, threads and Ctrl-C are all the same to it.

With several processes that thread looks on: the workers are forked by a process of their own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import closing
from queue import SimpleQueue
from typing import Protocol

import msgspec

from holdfast import wiring
from holdfast.client.asking import ACTOR
from holdfast.config import Settings
from holdfast.control.limits import limit_hosts
from holdfast.dispatch.driver import drive, look_on
from holdfast.dispatch.runners import runner_apart, runner_here
from holdfast.errors import BadParams, Refused
from holdfast.model.job import WORK_CHUNKS, Counts, Job
from holdfast.model.lease import Owner
from holdfast.policy.recovery import RecoveryRule
from holdfast.ports import Ledger, Runner, SessionEnd
from holdfast.recipes import catalogue

WATCH_EVERY_S = 0.2

log = logging.getLogger(__name__)


class Progress(msgspec.Struct, frozen=True):
    """How far a job is at a moment, counted from the rows. It prints itself in a line."""

    job: str
    status: str
    counts: Counts
    in_flight: int
    checkpoint: int | None

    def __str__(self) -> str:
        numbers = " ".join(f"{name}={count}" for name, count in self.counts.seven().items())
        return f"{self.job} {self.status} {numbers} in_flight={self.in_flight}"


OnProgress = Callable[[Progress], object]


class Stoppable(Protocol):
    """A runner that works a job for this program."""

    def stop(self, why: str) -> None: ...


class Halt:
    """Asked for by another thread: a runner of the job is told to drain, a watcher stops watching."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._at_work: list[Stoppable] = []

    def ask(self) -> None:
        self._asked.set()
        for each in self._at_work:
            each.stop("drain")

    def is_asked(self) -> bool:
        return self._asked.is_set()

    def tell(self, who: Stoppable) -> None:
        """A session is at work now; an earlier request to stop reaches it at once."""
        self._at_work.append(who)
        if self.is_asked():
            who.stop("drain")

    def wait(self, seconds: float) -> None:
        """So long, or until it is asked for."""
        self._asked.wait(seconds)


class Shift:
    """One runner on a job, in a thread of its own. Its progress is read by the waiting thread."""

    def __init__(self, settings: Settings, job: Job, processes: int = 1, trigger: str = ACTOR) -> None:
        self._trigger = trigger
        self._told: SimpleQueue[Progress | None] = SimpleQueue()
        self._runner = self._runner_of(settings, job, processes)
        self._thread = threading.Thread(target=self._work, name=f"holdfast {job.name}", daemon=True)
        self._ended: SessionEnd | None = None
        self._error: BaseException | None = None
        self._thread.start()

    def _runner_of(self, settings: Settings, job: Job, processes: int) -> Runner:
        if processes == 1:
            return runner_here(settings, job, progress=self._tell, say=log.info, trigger=self._trigger)
        return runner_apart(settings, job, processes, progress=self._tell, say=log.info, trigger=self._trigger)

    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def is_lost(self) -> bool:
        """Whether it is over because another process has the job."""
        return self.is_over() and self._ended is not None and self._ended.how == "lost"

    def stop(self, why: str) -> None:
        """`pause` or `drain`; what is in hand is finished first."""
        self._runner.interrupt(why)

    def wait(self, on_progress: OnProgress | None) -> str:
        """Until it is over; how it ended. Ctrl-C pauses the job and waits on; a second one stops waiting."""
        interrupts = 0
        while True:
            try:
                while (told := self._told.get()) is not None:
                    if on_progress is not None:
                        on_progress(told)
                break
            except KeyboardInterrupt:
                interrupts += 1
                self.stop("pause")
                if interrupts > 1:
                    raise
            except BaseException:
                self.stop("drain")
                self._thread.join()
                raise
        return self.end()

    def end(self) -> str:
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._ended is not None
        return self._ended.how

    def _work(self) -> None:
        try:
            self._ended = ended = self._runner.run()
            if ended.how != "lost":  # how it ended is told, too, however little time passed since the last commit
                self._tell(ended.job, ended.counts, 0, ended.checkpoint)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        finally:
            self._told.put(None)

    def _tell(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None:
        self._told.put(Progress(job.name, job.status, counts, in_flight, checkpoint))


class Begun:
    """Fulfils dispatch.driver.Surface: a shift is begun where the job wants work, and not waited for."""

    actor = ACTOR

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def held_back(self, job: Job, row: RecoveryRule) -> None:
        """Nothing holds it back."""

    def prepare(self, job: Job, row: RecoveryRule) -> Job:
        return _loaded(job)

    def work(self, job: Job) -> Shift | Job:
        return Shift(self._settings, job)

    def watch(self, job: Job, owner: Owner) -> Shift | Job:
        return job

    def leave(self, job: Job) -> Shift | Job:
        return job


class Waited:
    """Fulfils dispatch.driver.Surface: the job is worked to its end, or watched where another process works it.

    The answer is how the job stood then; its run is in the ledger.
    """

    actor = ACTOR

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        on_progress: OnProgress | None,
        halt: Halt,
        *,
        processes: int,
        trigger: str = ACTOR,
    ) -> None:
        self._trigger = trigger
        self._settings, self._ledger, self._processes = settings, ledger, processes
        self._on_progress, self._halt = on_progress, halt

    def held_back(self, job: Job, row: RecoveryRule) -> str | None:
        return job.status if self._halt.is_asked() else None

    def prepare(self, job: Job, row: RecoveryRule) -> Job:
        return _loaded(job)

    def work(self, job: Job) -> str | None:
        shift = Shift(self._settings, job, self._processes, self._trigger)
        self._halt.tell(shift)
        how = shift.wait(self._on_progress)
        return None if how == "lost" and not self._halt.is_asked() else how

    def watch(self, job: Job, owner: Owner) -> str | None:
        while True:
            now = look_on(self._ledger, job)
            if self._on_progress is not None:
                name, status, counts = now.job.name, now.job.status, now.counts
                self._on_progress(Progress(name, status, counts, counts.in_progress, now.checkpoint))
            if now.is_over or self._halt.is_asked():
                return now.job.status
            if now.owner is None:
                return None
            self._halt.wait(WATCH_EVERY_S)

    def leave(self, job: Job) -> str:
        return job.status


def take_up(settings: Settings, job: int, *, asked: bool = True) -> Shift | Job:
    """A shift on the job, if it wants work and no other process works it; else the job as it stands.

    `asked`: the caller wants it worked now; else only what goes on already is taken up, and a pause stays a pause.
    """
    with closing(wiring.open_ledger(settings)) as ledger:
        limit_hosts(ledger, settings.hosts)
        return drive(ledger, ledger.job(job), Begun(settings), asked=asked)


def work(
    settings: Settings,
    job: int,
    on_progress: OnProgress | None,
    halt: Halt,
    *,
    processes: int = 1,
    trigger: str = ACTOR,
) -> None:
    """Work the job until it ends or is paused; one that another process works is watched instead."""
    if not 1 <= processes <= WORK_CHUNKS:
        raise BadParams(f"processes: must be from 1 to {WORK_CHUNKS}, not {processes}")
    with closing(wiring.open_ledger(settings)) as ledger:
        now = ledger.job(job)
        if processes > now.options.concurrency:
            raise Refused(f"{processes} processes cannot share {now.options.concurrency} fetches at once")
        limit_hosts(ledger, settings.hosts)
        drive(ledger, now, Waited(settings, ledger, on_progress, halt, processes=processes, trigger=trigger))


def _loaded(job: Job) -> Job:
    """A recipe that cannot be loaded is refused, and moves nothing."""
    catalogue.recipe_for(job)
    return job
