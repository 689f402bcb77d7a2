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
from holdfast.config import Settings
from holdfast.config.headers import with_secrets
from holdfast.control.limits import limit_hosts
from holdfast.engine.recovery import holder_of, make_ready, outlook
from holdfast.engine.session import Session, SessionEnd
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


class Halt:
    """Asked for by another thread: whoever works the job is told to drain, whoever only looks on stops looking."""

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
    """One session of this process on a job, in its own thread. What it tells is read by whoever waits for it."""

    def __init__(self, settings: Settings, job: Job) -> None:
        self._told: SimpleQueue[Progress | None] = SimpleQueue()
        self._session: Session = wiring.open_session(settings, with_secrets(job), progress=self._tell, trigger=ACTOR)
        self._thread = threading.Thread(target=self._work, name=f"holdfast {job.name}", daemon=True)
        self._ended: SessionEnd | None = None
        self._error: BaseException | None = None
        self._thread.start()

    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def is_lost(self) -> bool:
        """Whether it is over because another process has the job."""
        return self.is_over() and self._ended is not None and self._ended.how == "lost"

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


def take_up(settings: Settings, job: int, *, asked: bool = True) -> Shift | Job:
    """A shift on the job, if it wants work and nobody else does it; else the job as it stands.

    `asked`: somebody wants it worked now; else only what goes on already is taken up, and a pause stays a pause.
    """
    with closing(wiring.open_ledger(settings)) as ledger:
        limit_hosts(ledger, settings.hosts)
        for _ in range(LOOKS_MAX):
            now = ledger.books(job)[0]
            row = outlook(ledger, now, recipe_known=catalogue.knows(now), asked=asked)
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
    halt: Halt,
) -> None:
    """Work the job until it ends or is paused; one that another process works is watched instead."""
    for looks in range(LOOKS_MAX):
        if halt.is_asked():
            return
        taken = take_up(settings, job, asked=looks == 0)
        if isinstance(taken, Shift):
            halt.tell(taken)
            if taken.wait(on_progress) != "lost":
                return
        elif taken.status != "in_progress" or not _watched(settings, job, on_progress, halt):
            return


def _watched(settings: Settings, job: int, on_progress: OnProgress | None, halt: Halt) -> bool:
    """Until the job is over; True if its worker is gone before, and the job wants another."""
    with closing(wiring.open_ledger(settings)) as ledger:
        while True:
            now, counts, point = ledger.books(job)
            if on_progress is not None:
                number = None if point is None else point.number
                on_progress(Progress(now.name, now.status, counts, counts.in_progress, number))
            if now.status != "in_progress" or halt.is_asked():
                return False
            if holder_of(ledger, now) is None:
                return True
            halt.wait(WATCH_EVERY_S)
