"""The job that somebody asks for, while somebody else asks for the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from holdfast.clock import ManualClock
from holdfast.control.submit import JobRequest, find_or_submit
from holdfast.model.job import Job, Options
from holdfast.recipes import catalogue
from oracle.ledger import MemoryLedger, MemoryStore


@dataclass
class SubmitHooks:
    """Lets somebody in while it checks, and remembers what it was told."""

    meanwhile: Callable[[], object] = lambda: None
    kept_as: list[str] = field(default_factory=list)

    def check(self, options: Options, urls: Iterable[str]) -> None:
        self.meanwhile()

    def as_found(self, job: Job, params: dict[str, Any], options: Options) -> Job:
        return job

    def told_first(self, others: list[Job], mode: str | None) -> None:
        return None

    def told_aside(self, job: Job, aside: Job) -> None:
        self.kept_as.append(aside.name)


def test_of_two_who_start_a_job_over_at_once_one_sets_it_aside_and_both_mean_the_new_one() -> None:
    ledger = MemoryLedger(MemoryStore(), ManualClock(), "boot-1")
    first, second = SubmitHooks(), SubmitHooks()

    def ask(hooks: SubmitHooks, *, new: bool) -> Job:
        asked = JobRequest(
            recipe=catalogue.built_in("site"), given={"seeds": ["https://marsh.test/"]}, pace={}, configured={},
            name="marsh", new=new,
        )  # fmt: skip
        return find_or_submit(ledger, asked, hooks, actor="test")

    old = ask(SubmitHooks(), new=False)
    made: list[Job] = []
    second.meanwhile = lambda: made.append(ask(first, new=True))
    made.append(ask(second, new=True))
    assert (first.kept_as, second.kept_as) == (["marsh~1"], [])
    assert made[0] == made[1] != old
    assert [(job.id, job.name) for job in ledger.jobs()] == [(old.id, "marsh~1"), (made[0].id, "marsh")]
