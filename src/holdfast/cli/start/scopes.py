"""Scope options that differ from a job's own (ux 3.3): refused with the difference and the ways on, or applied."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.screen.refusals import status_word
from holdfast.cli.start.carry_on import scanned_again
from holdfast.control.rescope import go_on, update_scope
from holdfast.engine.recovery import holder_of
from holdfast.errors import Refused
from holdfast.model.job import Job
from holdfast.model.spelling import count_of
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of

OTHERWISE = "--new starts over; --name NAME makes another job"
# How a changed scope is applied to a job of this status; a job that is not listed has something pending.
APPLIED = {"completed": "--mode full --update scans it again in that scope; ", "cancelled": ""}
TO_PENDING = "--update applies it to what is still pending; "


def with_scope(call: Call, ledger: Ledger, job: Job, params: dict[str, Any]) -> tuple[Job, bool]:
    """The job, whose scope these params are: as it is, or updated; and whether it is scanned again, which was said.

    Refused where the scope differs and --update is missing. Of a completed job nothing is pending: with --mode full it
    is opened for a new run first, so that the new scope decides what is fetched again.
    """
    kind = kind_of(job)
    before, after = kind.scope_of(job.params), kind.scope_of(params)
    differ = [name for name in after if not kind.same(name, before, after)]
    if not differ:
        return job, False
    is_another = any(name in differ and name not in kind.scope for name in (kind.inputs, *kind.fixed))
    if not call.options.update or is_another:
        ways = "" if is_another else TO_PENDING if kind.goes_on else APPLIED.get(job.status, TO_PENDING)
        lines = [f"  {name}: {_shown(before.get(name))}, now {_shown(after[name])}" for name in differ]
        known = _report_already(ledger, job, differ, after)
        raise Refused("\n".join([*known, f"{job.name} has another scope:", *lines, f"Ways on: {ways}{OTHERWISE}."]))
    if kind.goes_on and job.status == "completed" and call.options.mode is None:
        job = go_on(ledger, job, actor="cli")
    mode = call.options.mode
    if mode == "new" and job.status == "completed":
        call.console.say("Another scope: links that were left out before are looked for on every page, changed or not.")
        mode = "full"
    job, announced = scanned_again(call, ledger, job, mode)
    _refuse_at_work(ledger, job)
    because = ", ".join(f"{name} {_shown(before.get(name))} -> {_shown(after[name])}" for name in differ)
    job, judged = update_scope(ledger, job, params, actor="cli", because=because)
    told = f"{count_of(judged.excluded, 'target')} left out, {count_of(judged.requeued, 'target')} put back"
    call.console.say(f"{job.name}: {because}; {told}.")
    return job, announced


def _report_already(ledger: Ledger, job: Job, differ: list[str], after: dict[str, Any]) -> list[str]:
    """A line for who asks for a report of a complete job: it can be had without another scan."""
    if "report" not in differ or not after["report"] or job.status != "completed":
        return []
    from holdfast.views.reports import can_be_built

    if not can_be_built(ledger, job):
        return []
    return [f"holdfast report {job.word} works already, from the pages that are stored."]


def _refuse_at_work(ledger: Ledger, job: Job) -> None:
    owner = holder_of(ledger, job)
    if owner is not None:
        raise Refused(f"{job.name} is being worked by {owner}. Pause it first: holdfast pause {job.word}")
    if job.status in APPLIED:
        ways = APPLIED[job.status] + OTHERWISE
        raise Refused(f"{job.name} is {status_word(job)}: nothing of it is pending. Ways on: {ways}.")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value) if value else "none"
    return "none" if value is None else str(value)
