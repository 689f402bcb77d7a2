"""`holdfast resume [JOB]`: go on with one job, or with all that a crash, SIGTERM or Ctrl-C stopped, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen import summary
from holdfast.cli.screen.refusals import refusal
from holdfast.cli.screen.values import duration, whole
from holdfast.cli.signals import SignalHandlers
from holdfast.cli.start.amend import amended
from holdfast.cli.start.carry_on import PROCESSES_HELP, carry_on, conclude, fork_server_for, owing, standing_still, warn
from holdfast.control.resume import STRATEGIES, prepared
from holdfast.control.stopping import pause
from holdfast.engine.recovery import holder_of
from holdfast.errors import Corrupt, IllegalMove, Refused, UsageError
from holdfast.model.job import WORK_CHUNKS, Job
from holdfast.model.spelling import count_of
from holdfast.policy import limits
from holdfast.ports import Ledger
from holdfast.recipes import catalogue
from holdfast.views.resume import resume_document

if TYPE_CHECKING:
    from holdfast.dispatch.local.fork_server import ForkServer


def arguments(parser: Parser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="name or id; all that were interrupted without it")
    parser.add_argument("--all", action="store_true", help="also those paused by `pause`, a full disk or a block")
    parser.add_argument(
        "--extend", type=duration(0.001, 10**9), metavar="DUR", help="allow JOB so much more active time: 30m"
    )
    parser.add_argument("--extend-pages", type=whole(1, 10**12), metavar="N", help="allow JOB N more pages")
    parser.add_argument("--strategy", choices=STRATEGIES, help="auto: what failed, too; none: from the seeds again")
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)


def run(call: Call) -> int:
    if call.options.job is not None:
        if call.options.all:
            raise UsageError("--all means every job; leave out JOB or --all")
        call.demand_ledger()
        with fork_server_for(call) as fork_server, call.ledger() as ledger:
            job = ledger.job(call.options.job)
            if holder_of(ledger, job) is None and job.status not in ("completed", "cancelled"):
                catalogue.recipe_for(job)  # one that cannot be loaded changes nothing of the job
            job, announced = _prepared(call, ledger, _extended(call, ledger, job))
            answer = _answer(call, ledger, job)
            result = carry_on(call, ledger, job, fork_server, announced=announced)
            return conclude(call, ledger, result, output=None, beside=answer)
    options = call.options
    if options.extend is not None or options.extend_pages is not None or options.strategy is not None:
        raise UsageError(
            "--extend, --extend-pages and --strategy are about one job", hint="name it: holdfast resume JOB"
        )
    if not call.has_ledger():
        return _nothing(call, [])
    with fork_server_for(call) as fork_server, call.ledger() as ledger:
        jobs = standing_still(ledger, all_paused=call.options.all)
        if not call.options.all:
            jobs = [job for job in jobs if not _held_back(call, ledger, job)]
        jobs += owing(call, ledger)
        return _each(call, ledger, jobs, fork_server) if jobs else _nothing(call, ledger.jobs())


def _held_back(call: Call, ledger: Ledger, job: Job) -> bool:
    """PAU-05: a job that a crash left, and that is not to go on by itself, is paused; its owner is told."""
    if job.options.auto_resume or job.status != "in_progress":
        return False
    pause(ledger, job, actor="cli", paused_by="auto_resume")
    call.console.say(
        f"{job.name} was found unfinished, and auto_resume is off: it is paused. To go on: holdfast resume {job.word}"
    )
    return True


def _extended(call: Call, ledger: Ledger, job: Job) -> Job:
    """The job with raised limits, where that was asked for and it may still go on."""
    options = call.options
    if (options.extend is None and options.extend_pages is None) or job.status in ("completed", "cancelled"):
        return job
    now, counts, _ = ledger.books(job.id)
    return amended(call, ledger, now, limits.extended(now, counts, options.extend, options.extend_pages))


def _prepared(call: Call, ledger: Ledger, job: Job) -> tuple[Job, bool]:
    """The job with those targets pending that the strategy means, and whether it begins again, which was said."""
    strategy = call.options.strategy
    if strategy is None:
        return job, False
    counts, generation = ledger.books(job.id)[1], job.generation
    try:
        job, requeued = prepared(ledger, job, strategy, actor="cli")
    except IllegalMove as error:
        now = ledger.job(job.id)
        raise refusal(now, error, is_worked=holder_of(ledger, now) is not None) from error
    if requeued:
        call.console.say(f"Queued {count_of(requeued, 'failed target')} of {job.name} again.")
    is_afresh = job.generation > generation
    if is_afresh:
        warn(call, job)
        call.console.say(summary.starting_again(job, counts))
    return job, is_afresh


def _answer(call: Call, ledger: Ledger, job: Job) -> dict[str, Any]:
    """What `--json` says of the resume itself, beside how the job stands at the end (PAU-11)."""
    if not call.globals.json:
        return {}
    return resume_document(ledger, job, strategy=call.options.strategy, now_ms=call.clock.wall_ms())


def _each(call: Call, ledger: Ledger, jobs: list[Job], fork_server: ForkServer | None) -> int:
    """One after the other; a job that cannot go on does not stop the next, a signal does."""
    codes: list[int] = []
    documents: list[dict[str, Any]] = []
    handlers = SignalHandlers(call.settings.pause_deadline_s)
    call = replace(call, handlers=handlers)
    for job in jobs:
        if handlers.stopped:
            codes.append(exits.INTERRUPTED)  # those at hand may have come to their ends all the same
            break
        try:
            answer = _answer(call, ledger, job)
            result = carry_on(call, ledger, ledger.job(job.id), fork_server)
        except (UsageError, Corrupt) as error:
            call.console.complain(Refused(f"{job.name} cannot go on: {error.message}", hint=error.hint))
            codes.append(exits.of_error(error))
            continue
        try:
            codes.append(conclude(call, ledger, result, output=None, beside=answer, collected=documents))
        except UsageError as error:
            call.console.complain(Refused(f"results of {job.name} are not written: {error.message}", hint=error.hint))
            codes.append(exits.of_error(error))
    _list(call, documents)
    return exits.worst(codes)


def _list(call: Call, documents: list[dict[str, Any]]) -> None:
    """Without JOB the answer of --json is a list, however many there were."""
    if call.globals.json:
        call.console.listing("jobs", documents, next_cursor=None)


def _nothing(call: Call, jobs: list[Job]) -> int:
    paused = [job.name for job in jobs if job.status == "paused" and job.identity is not None]
    also = f" {count_of(len(paused), 'job')} paused: {', '.join(paused)}; --all resumes them too." if paused else ""
    call.console.say(f"Nothing to resume: no job was stopped by a crash, SIGTERM or Ctrl-C.{also}")
    _list(call, [])
    return 0
