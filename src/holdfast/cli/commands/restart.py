"""`holdfast restart JOB`: a paused job goes back to pending, to run again from its seeds."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import command_for, refusal
from holdfast.control import reopen
from holdfast.engine import recovery
from holdfast.errors import IllegalMove
from holdfast.views.job import job_document


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")


def run(call: Call) -> int:
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(call.options.job)
        try:
            after = reopen.restart(ledger, job, actor="cli")
        except IllegalMove as error:
            now = ledger.job(job.id)
            raise refusal(now, error, is_worked=recovery.holder_of(ledger, now) is not None) from error
        call.console.say(f"{after.name} is pending again; its results so far are kept until they are fetched anew.")
        call.console.say(f"  start: {command_for(after, 'start')}")
        if call.globals.json:
            call.console.document(job_document(*ledger.books(job.id)))
    return 0
