"""How Python asks for a job: what is refused, in its own words, and what becomes of a job that is there (ux 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from holdfast import wiring
from holdfast.config.headers import check_secrets
from holdfast.control.reopen import rescan
from holdfast.control.rescope import go_on, update_scope
from holdfast.control.submit import JobRequest, changes_of, judge
from holdfast.errors import BadParams, Refused
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of

ACTOR = "api"


class CheckOnly(msgspec.Struct, frozen=True, kw_only=True):
    """Fulfils `control.submit.SubmitHooks` by refusing what is to be refused, and changes nothing.

    `update`: a changed scope is not refused.
    """

    update: bool = False
    browser: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def check(self, options: Options, urls: Iterable[str]) -> None:
        for url in urls:
            sentence = wiring.refuse_private_seed(options, url)
            if sentence is not None:
                raise BadParams(sentence.replace("--allow-private", "allow_private=True"))
        check_secrets(options)
        wiring.check_browser(options, self.browser)

    def as_found(self, job: Job, params: dict[str, Any], options: Options) -> Job:
        self._differing(job, params)
        return job

    def told_aside(self, job: Job, aside: Job) -> None:
        """Says nothing: the earlier job is among the jobs."""

    def told_first(self, others: list[Job], mode: str | None) -> None:
        """Says nothing: the others are among the jobs. A mode is asked for when the job is run."""

    def _differing(self, job: Job, params: dict[str, Any]) -> list[str]:
        """Which inputs would change; Refused where they must not."""
        kind = kind_of(job)
        differ = kind.differing(job.params, params)
        if differ and not (self.update and set(differ) <= set(kind.scope)):
            raise _has_other_inputs(job, params, differ)
        return differ


class ClientSubmit(CheckOnly, frozen=True, kw_only=True):
    """The same, and what is asked for is done: a changed scope is applied to what is pending."""

    ledger: Ledger

    def as_found(self, job: Job, params: dict[str, Any], options: Options) -> Job:
        """Refused where its inputs would change, amended where its pace or its code does, also for runs to come."""
        differ = self._differing(job, params)
        if differ:
            job = self._updated(job, params, differ)
        if options == job.options or job.status == "cancelled":
            return job
        because = ", ".join(changes_of(job.options, options)) or "the recipe's code has moved"
        return self.ledger.amend(job, options=options, actor=ACTOR, because=because)

    def _updated(self, job: Job, params: dict[str, Any], differ: list[str]) -> Job:
        """A completed job has nothing pending: it goes on, or begins a new scan, in that scope."""
        if job.status == "completed" and kind_of(job).goes_on:
            job = go_on(self.ledger, job, actor=ACTOR)
        elif job.status == "completed":
            job = rescan(self.ledger, job, mode="full", actor=ACTOR)
        because = ", ".join(f"{name} {job.params.get(name)} -> {params[name]}" for name in differ)
        return update_scope(self.ledger, job, params, actor=ACTOR, because=because)[0]


def check(ledger: Ledger | None, asked: JobRequest, browser: Mapping[str, Any]) -> None:
    """Raise what would be refused of it. Writes nothing; without a ledger there are no jobs yet."""
    gate = CheckOnly(browser=browser)
    found, params, options = judge(ledger, asked, gate)
    if found is not None:
        gate.as_found(found, params, options)


def _has_other_inputs(job: Job, params: dict[str, Any], differ: list[str]) -> Refused:
    kind = kind_of(job)
    lines = [f"  {kind.change(name, job.params, params)}" for name in differ]
    may = not kind.is_own_code and set(differ) <= set(kind.scope)  # `run` of Python has no rules to change
    update = "update=True applies it to what is pending; " if may else ""
    return Refused(
        "\n".join([f"{job.name} has other inputs:", *lines]),
        hint=f"client.job({job.name!r}) is the job as it is; {update}new=True starts over; name=… makes another job",
    )
