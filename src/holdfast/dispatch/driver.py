"""The recovery driver: look at a job, act by the recovery table, look again, until it was worked, watched or left.

Command line, Python and service drive jobs by it. What differs between them (messages, the runner, the answer) is the
`Surface` that they hand in.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES, holder_of, make_ready, outlook
from holdfast.errors import Corrupt, IllegalMove, Refused
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Owner
from holdfast.policy.recovery import RecoveryRule
from holdfast.ports import Ledger
from holdfast.recipes import catalogue

R = TypeVar("R", covariant=True)
A = TypeVar("A")

LOOKS_MAX = 20
GOES_ON = ("start", "resume", "take_up")


class Surface(Protocol[R]):
    """What a surface does about a job; `R` is what it answers to its user."""

    @property
    def actor(self) -> str:
        """The actor that moves the job, for its history."""

    def held_back(self, job: Job, row: RecoveryRule) -> R | None:
        """The answer where the job is not to go on after all. Asked before it is moved or worked; None: go on."""

    def prepare(self, job: Job, row: RecoveryRule) -> Job:
        """Called before the job is moved or worked: a recipe that cannot be loaded is refused here."""

    def work(self, job: Job) -> R | None:
        """None: another process has the job, look again."""

    def watch(self, job: Job, owner: Owner) -> R | None:
        """A live process works the job. None: it is gone, look again."""

    def leave(self, job: Job) -> R:
        """Nothing is done to this job."""


def drive(ledger: Ledger, job: Job, surface: Surface[A], *, asked: bool = True) -> A:
    """`asked`: a user wants the job worked now. Otherwise only what goes on already is taken up, and a pause stays.

    What happens to the job after it was worked or watched is the wish of another command: it is not taken up again.
    """
    looks, key = 0, job.id
    while looks < LOOKS_MAX:
        looks += 1
        row = outlook(ledger, job, recipe_known=catalogue.knows(job), asked=asked)
        if row.action in GOES_ON:
            answer = surface.held_back(job, row)
            if answer is not None:
                return answer
            job = surface.prepare(job, row)
        owner = holder_of(ledger, job) if _is_worked(job, row) else None
        if row.action == "take_up":
            asked, answer = False, surface.work(job)
        elif owner is not None:
            looks, asked, answer = 0, False, surface.watch(job, owner)
        else:
            answer = _moved_or_left(ledger, job, row, surface)
        if answer is not None:
            return answer
        job = repeated(lambda: ledger.job(key), tries=VERB_TRIES)
    raise Refused(f"{job.name} is taken by another process again and again", hint=f"holdfast status {job.word}")


def _is_worked(job: Job, row: RecoveryRule) -> bool:
    """Whether the table saw a live process at work."""
    return row.action == "watch" or (row.action == "leave" and job.status == "in_progress")


def _moved_or_left(ledger: Ledger, job: Job, row: RecoveryRule, surface: Surface[A]) -> A | None:
    """None: look again."""
    if row.action == "leave" and job.status != "in_progress":
        return surface.leave(job)
    if row.action == "refuse_recipe":
        raise catalogue.missing(job)
    if row.action == "report":
        raise Corrupt(f"{job.name}: {row.because}")
    try:
        make_ready(ledger, job, row, actor=surface.actor)
    except (IllegalMove, Refused):
        return None  # another command moved it in between: its new state decides
    return None


class Watched(msgspec.Struct, frozen=True):
    """A job that another process works, at one moment."""

    job: Job
    counts: Counts
    checkpoint: int | None
    owner: Owner | None  # None: it is gone

    @property
    def is_over(self) -> bool:
        return self.job.status != "in_progress"


def look_on(ledger: Ledger, job: Job) -> Watched:
    """The owner is looked up first: a process that is gone by then has written everything."""
    owner = holder_of(ledger, job)
    now, counts, point = ledger.books(job.id)
    return Watched(now, counts, None if point is None else point.number, owner)
