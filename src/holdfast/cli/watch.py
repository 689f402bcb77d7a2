"""`holdfast watch JOB`: follow a job that runs elsewhere. Ctrl-C only stops watching; nothing is ever written."""

from __future__ import annotations

from holdfast.cli import exits, summary
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.signals import Ears, hearing
from holdfast.cli.starting import conclude
from holdfast.cli.working import Result, watch
from holdfast.engine.control import holder_of
from holdfast.engine.documents import start_of
from holdfast.model.job import Job
from holdfast.ports import Ledger


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")


def run(call: Call) -> int:
    ears = Ears(call.settings.pause_deadline_s)
    with call.existing_ledger() as ledger, hearing(ears):
        job = ledger.job(call.options.job)
        owner = holder_of(ledger, job)
        if owner is None:
            return _nobody(call, ledger, job)
        result = watch(call, ledger, job, owner, ears)
        code = conclude(call, ledger, result, output=None)
        return exits.OK if result.how == "watched" else code


def _nobody(call: Call, ledger: Ledger, job: Job) -> int:
    """A job that nobody works has nothing to follow: how it stands is said once."""
    now, counts, point = ledger.books(job.id)
    how = "interrupted" if now.status == "in_progress" else now.status
    number = None if point is None else point.number
    if how == "pending":
        call.voice.say(f"{job.name} has not been started. Start it: holdfast {start_of(job)} {job.word}")
        return exits.OK
    call.voice.say(f"Nobody works {job.name}; there is nothing to watch.")
    assert how in summary.FIRST_WORDS
    return conclude(call, ledger, Result(now, counts, number, how), output=None)
