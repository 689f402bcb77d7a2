"""Working a job from Python: in a thread of its own, so that notebooks, threads and Ctrl-C are all the same to it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from holdfast import wiring
from holdfast.client.asking import ACTOR
from holdfast.clock import pause_thread
from holdfast.config import Settings
from holdfast.config.headers import with_secrets
from holdfast.engine.control import holder_of, limit_hosts, make_ready, outlook
from holdfast.engine.session import Ended, Session
from holdfast.errors import Corrupt, IllegalMove, Refused
from holdfast.model.job import Counts, Job
from holdfast.recipes import catalogue

LOOKS_MAX = 20
WATCH_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
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
    """Whoever works a job for this program."""

    def stop(self, why: str) -> None: ...


class Shift:
    """One session of this process on a job, in its own thread. What it tells is read by whoever waits for it."""

    def __init__(self, settings: Settings, job: Job) -> None:
        self._told: SimpleQueue[Progress | None] = SimpleQueue()
        self._session: Session = wiring.open_session(settings, with_secrets(job), progress=self._tell, trigger=ACTOR)
        self._thread = threading.Thread(target=self._work, name=f"holdfast {job.name}", daemon=True)
        self._ended: Ended | None = None
        self._error: BaseException | None = None
        self._thread.start()

    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def stop(self, why: str) -> None:
        """`pause` or `drain`; what is in hand is finished first."""
        self._session.interrupt(why)

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
            self._ended = ended = self._session.run()
            if ended.how != "lost":  # how it ended is told, too, however little time passed since the last commit
                self._tell(ended.job, ended.counts, 0, ended.checkpoint)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        finally:
            self._told.put(None)

    def _tell(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None:
        self._told.put(Progress(job.name, job.status, counts, in_flight, checkpoint))


def take_up(settings: Settings, job: int) -> Shift | Job:
    """A shift on the job, if it wants work and nobody else does it; else the job as it stands."""
    with closing(wiring.open_ledger(settings)) as ledger:
        limit_hosts(ledger, settings.hosts)
        for _ in range(LOOKS_MAX):
            now = ledger.books(job)[0]
            row = outlook(ledger, now, recipe_known=catalogue.knows(now), asked=True)
            if row.action in ("start", "resume", "take_up"):
                catalogue.recipe_for(now)  # one that cannot be loaded moves nothing
            if row.action == "take_up":
                return Shift(settings, now)
            if row.action in ("watch", "leave"):
                return now
            if row.action == "refuse_recipe":
                raise catalogue.missing(now)
            if row.action == "report":
                raise Corrupt(f"{now.name}: {row.because}")
            try:
                make_ready(ledger, now, row, actor=ACTOR)
            except (IllegalMove, Refused):
                continue  # somebody else moved it in between: what is there now decides
    raise Refused("the job is taken by another process again and again")


def work(
    settings: Settings,
    job: int,
    on_progress: OnProgress | None,
    on_shift: Callable[[Stoppable], object] | None = None,
) -> None:
    """Work the job until it ends or is paused; one that another process works is watched instead."""
    for _ in range(LOOKS_MAX):
        taken = take_up(settings, job)
        if isinstance(taken, Shift):
            if on_shift is not None:
                on_shift(taken)
            if taken.wait(on_progress) != "lost":
                return
        elif taken.status != "in_progress" or not _watched(settings, job, on_progress):
            return


def _watched(settings: Settings, job: int, on_progress: OnProgress | None) -> bool:
    """Until the job is over; True if its worker is gone before, and the job wants another."""
    with closing(wiring.open_ledger(settings)) as ledger:
        while True:
            now, counts, point = ledger.books(job)
            if on_progress is not None:
                number = None if point is None else point.number
                on_progress(Progress(now.name, now.status, counts, counts.in_progress, number))
            if now.status != "in_progress":
                return False
            if holder_of(ledger, now) is None:
                return True
            pause_thread(WATCH_EVERY_S)
