"""`holdfast watch JOB`: follow a job that runs elsewhere. Ctrl-C only stops watching; nothing is ever written."""

from __future__ import annotations

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen import summary
from holdfast.cli.signals import SignalHandlers, handling_signals
from holdfast.cli.start.carry_on import conclude
from holdfast.cli.start.work import Result, watch
from holdfast.engine.recovery import holder_of
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")


def run(call: Call) -> int:
    handlers = SignalHandlers(call.settings.pause_deadline_s)
    with call.existing_ledger() as ledger, handling_signals(handlers):
        job = ledger.job(call.options.job)
        owner = holder_of(ledger, job)
        if owner is None:
            return _nobody(call, ledger, job)
        result = watch(call, ledger, job, owner, handlers)
        code = conclude(call, ledger, result, output=None)
        return exits.OK if result.how == "watched" else code


def _nobody(call: Call, ledger: Ledger, job: Job) -> int:
    """A job that no process works has nothing to follow: its state is shown once."""
    now, counts, point = ledger.books(job.id)
    how = "interrupted" if now.status == "in_progress" else now.status
    number = None if point is None else point.number
    if how == "pending":
        call.console.say(f"{job.name} has not been started. Start it: holdfast {kind_of(job).command} {job.word}")
        return exits.OK
    call.console.say(f"No process works {job.name}; there is nothing to watch.")
    assert how in summary.FIRST_WORDS
    return conclude(call, ledger, Result(now, counts, number, how), output=None)
