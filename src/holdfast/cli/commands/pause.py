"""`holdfast pause JOB`: a durable request, and the wait until it is acknowledged; `cancel` asks in the same way."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import refusal
from holdfast.cli.screen.summary import books
from holdfast.clock import pause_thread
from holdfast.config.settings import STOP_GRACE_S
from holdfast.control import stopping
from holdfast.engine import recovery
from holdfast.errors import IllegalMove, Refused
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes import catalogue
from holdfast.views.job import job_document

POLL_S = 0.1
DONE = {"pause": ("paused", "Paused"), "cancel": ("cancelled", "Cancelled")}
DOING = {"pause": "Pausing", "cancel": "Cancelling"}


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")


def run(call: Call) -> int:
    return stopped(call, "pause", lambda ledger, job: stopping.pause(ledger, job, actor="cli"))


def stopped(call: Call, verb: str, request: Callable[[Ledger, Job], Job]) -> int:
    """Ask for it, wait until it is so, and say how the job stands then."""
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(call.options.job)
        try:
            after = request(ledger, job)
        except IllegalMove as error:
            raise refusal(ledger.job(job.id), error) from error
        if after.status != DONE[verb][0]:
            after = _acknowledged(call, ledger, after, verb)
        return _told(call, ledger, after, verb)


def _acknowledged(call: Call, ledger: Ledger, job: Job, verb: str) -> Job:
    """Wait for the worker; one that dies meanwhile is stood in for."""
    wanted, deadline_s = DONE[verb][0], call.settings.pause_deadline_s
    owner = recovery.holder_of(ledger, job)
    call.console.say(f"{DOING[verb]} {job.name}: {owner} finishes the pages in hand (at most {deadline_s:g} s).")
    until_ms = call.clock.monotonic_ms() + round((deadline_s + STOP_GRACE_S) * 1000)
    while job.status != wanted and call.clock.monotonic_ms() < until_ms:
        pause_thread(POLL_S)
        job = ledger.job(job.id)
        if job.status not in (wanted, "in_progress"):
            raise Refused(f"{job.name} is {job.status} already: it ended before it could {verb}")
        row = recovery.outlook(ledger, job, recipe_known=catalogue.knows(job), asked=False)
        if row.action == "acknowledge":
            job = recovery.make_ready(ledger, job, row, actor="cli")
    if job.status != wanted:
        raise Refused(
            f"{job.name} has not stopped yet: {owner} still holds it. The request is saved and holds",
            hint=f"holdfast status {job.word}",
        )
    return job


def _told(call: Call, ledger: Ledger, job: Job, verb: str) -> int:
    now, counts, point = ledger.books(job.id)
    number = "no checkpoint" if point is None else f"checkpoint {point.number}"
    call.console.say(f"{DONE[verb][1]}  {now.name}   {books(counts)}   {number}")
    if verb == "pause":
        call.console.say(f"  continue: holdfast resume {now.word}")
    if call.globals.json:
        call.console.document(job_document(now, counts, point))
    return 0
