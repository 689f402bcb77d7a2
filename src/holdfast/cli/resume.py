"""`holdfast resume [JOB]`: go on with one job, or with all that a crash, SIGTERM or Ctrl-C stopped, one by one."""

from __future__ import annotations

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.starting import carry_on, conclude, standing_still
from holdfast.cli.text import count_of
from holdfast.errors import Refused, UsageError
from holdfast.model.job import Job
from holdfast.ports import Ledger


def arguments(parser: Parser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="name or id; all that were interrupted without it")
    parser.add_argument("--all", action="store_true", help="also those paused by `pause`, a full disk or a block")


def run(call: Call) -> int:
    if call.options.job is not None:
        if call.options.all:
            raise UsageError("--all means every job; leave out JOB or --all")
        with call.existing_ledger() as ledger:
            job = ledger.job(call.options.job)
            return conclude(call, ledger, carry_on(call, ledger, job), output=None)
    if not call.has_ledger():
        return _nothing(call, [])
    with call.ledger() as ledger:
        jobs = standing_still(ledger, all_paused=call.options.all)
        return _each(call, ledger, jobs) if jobs else _nothing(call, ledger.jobs())


def _each(call: Call, ledger: Ledger, jobs: list[Job]) -> int:
    """One after the other; a job that cannot go on does not stop the next, a signal does."""
    codes = []
    for job in jobs:
        try:
            result = carry_on(call, ledger, ledger.books(job.id)[0])
        except UsageError as error:
            call.voice.complain(Refused(f"{job.name} cannot go on: {error.message}", hint=error.hint))
            codes.append(exits.of_error(error))
            continue
        codes.append(conclude(call, ledger, result, output=None))
        if result.interrupted:
            break
    return exits.worst(codes)


def _nothing(call: Call, jobs: list[Job]) -> int:
    paused = [job.name for job in jobs if job.status == "paused" and job.identity is not None]
    also = f" {count_of(len(paused), 'job')} paused: {', '.join(paused)}; --all resumes them too." if paused else ""
    call.voice.say(f"Nothing to resume: no job was stopped by a crash, SIGTERM or Ctrl-C.{also}")
    return 0
