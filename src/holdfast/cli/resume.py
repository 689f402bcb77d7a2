"""`holdfast resume [JOB]`: go on with one job, or with all that a crash, SIGTERM or Ctrl-C stopped, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.starting import PROCESSES_HELP, carry_on, conclude, nursery_for, standing_still
from holdfast.cli.text import count_of
from holdfast.cli.values import whole
from holdfast.errors import Refused, UsageError
from holdfast.model.job import WORK_CHUNKS, Job
from holdfast.ports import Ledger

if TYPE_CHECKING:
    from holdfast.cli.nursery import Nursery


def arguments(parser: Parser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="name or id; all that were interrupted without it")
    parser.add_argument("--all", action="store_true", help="also those paused by `pause`, a full disk or a block")
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)


def run(call: Call) -> int:
    if call.options.job is not None:
        if call.options.all:
            raise UsageError("--all means every job; leave out JOB or --all")
        with nursery_for(call) as nursery, call.existing_ledger() as ledger:
            job = ledger.job(call.options.job)
            result = carry_on(call, ledger, job, nursery)
            return conclude(call, ledger, result, output=None)
    if not call.has_ledger():
        return _nothing(call, [])
    with nursery_for(call) as nursery, call.ledger() as ledger:
        jobs = standing_still(ledger, all_paused=call.options.all)
        return _each(call, ledger, jobs, nursery) if jobs else _nothing(call, ledger.jobs())


def _each(call: Call, ledger: Ledger, jobs: list[Job], nursery: Nursery | None) -> int:
    """One after the other; a job that cannot go on does not stop the next, a signal does."""
    codes = []
    for job in jobs:
        try:
            result = carry_on(call, ledger, ledger.books(job.id)[0], nursery)
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
