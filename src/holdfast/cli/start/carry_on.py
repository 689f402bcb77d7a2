"""Starting again (ux 3.3): what is found decides whether a job is started, resumed, watched or left. One row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast import wiring
from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.screen import summary
from holdfast.cli.screen.notes import notes_on
from holdfast.cli.screen.refusals import is_cancelled
from holdfast.cli.signals import SignalHandlers, handling_signals
from holdfast.cli.start.outputs import (
    OVER,
    Output,
    export_again,
    interrupted,
    kept_output,
    not_whole,
    owes_results,
    shown,
    write_results,
    written_before,
)
from holdfast.cli.start.recipe_code import with_todays_code
from holdfast.cli.start.work import Result, watch, work
from holdfast.control.limits import limit_hosts
from holdfast.control.reopen import rescan
from holdfast.dispatch.driver import drive
from holdfast.engine.patience import Patience
from holdfast.engine.recovery import holder_of
from holdfast.errors import BadParams, IllegalMove, Refused, UsageError
from holdfast.model.edit import MODES
from holdfast.model.job import Job, Options
from holdfast.model.lease import Owner
from holdfast.policy import limits
from holdfast.policy.recovery import RecoveryRule
from holdfast.ports import Ledger
from holdfast.recipes import catalogue
from holdfast.views.job import job_document
from holdfast.views.past import past_of
from holdfast.views.standing import as_it_stands

if TYPE_CHECKING:
    from holdfast.dispatch.local.fork_server import ForkServer

MODE_HELP = "what to do with a completed job: full fetches all again, new asks for what is new or changed (resume)"
MODE_ALL_HELP = "what to do with a completed job: full fetches all again, and so does new (resume)"
DETACH_HELP = "hand the job to a server; needs one"
PROCESSES_HELP = "worker processes on this computer, which share the fetches at once (1)"


def carry_on(
    call: Call, ledger: Ledger, job: Job, fork_server: ForkServer | None = None, *, announced: bool = False
) -> Result:
    """Do what the recovery table says, look again, until the job was worked, watched or left as it is."""
    refuse_too_many(1 if fork_server is None else fork_server.size, job.options)
    limit_hosts(ledger, call.settings.hosts)
    handlers = call.handlers or SignalHandlers(call.settings.pause_deadline_s)
    with handling_signals(handlers):
        return drive(ledger, job, CommandLine(call, ledger, handlers, fork_server, announced=announced))


class CommandLine:
    """Fulfils dispatch.driver.Surface: what a command says of a job before, while and instead of working it."""

    actor = "cli"

    def __init__(
        self,
        call: Call,
        ledger: Ledger,
        handlers: SignalHandlers,
        fork_server: ForkServer | None,
        *,
        announced: bool,
    ) -> None:
        self._call, self._ledger, self._handlers, self._fork_server = call, ledger, handlers, fork_server
        self._announced = announced

    def held_back(self, job: Job, row: RecoveryRule) -> Result | None:
        """Without room for the reserve the next pause could not be written either: the one that is there stays."""
        settings = self._call.settings
        if row.action != "resume" or job.paused_by != "disk_full" or wiring.has_reserve(settings):
            return None
        now, counts, point = self._ledger.books(job.id)
        free, wanted = wiring.free_mb(settings.data), wiring.wanted_mb(settings)
        self._call.console.insist(summary.still_low(now, free_mb=free, wanted_mb=wanted))
        return Result(now, counts, None if point is None else point.number, "disk_full")

    def prepare(self, job: Job, row: RecoveryRule) -> Job:
        job = with_todays_code(self._call, self._ledger, job)
        if not self._announced:
            self._announced = True
            announce(self._call, self._ledger, job, row)
        return job

    def work(self, job: Job) -> Result | None:
        wiring.owe_results(self._call.settings, job)
        result = work(self._call, job, _head(self._ledger, job), self._handlers, self._fork_server)
        return None if result.how == "lost" and not result.interrupted else result

    def watch(self, job: Job, owner: Owner) -> Result:
        return watch(self._call, self._ledger, job, owner, self._handlers)

    def leave(self, job: Job) -> Result:
        return _left(self._call, self._ledger, job)


@contextmanager
def fork_server_for(call: Call, recipe: str | None = None) -> Iterator[ForkServer | None]:
    """For more than one process. Enter it before the ledger is opened: see dispatch/local/fork_server.py. `recipe` is
    the job's, where that is known before; else that of most jobs is loaded."""
    if call.options.processes == 1:
        yield None
        return
    from holdfast.dispatch.local.fork_server import ForkServer

    recipe = catalogue.NAMES[0] if recipe is None else recipe
    with ForkServer(call.options.processes, call.settings, recipe=recipe) as fork_server:
        yield fork_server


def refuse_detach(call: Call) -> None:
    """-d hands a job over to a server, which this version has not."""
    if call.options.detach:
        raise UsageError(
            "--detach hands the job to a Holdfast server, and none is configured",
            hint="leave it out to work the job here, or submit it for later with --start-paused",
        )


def refuse_too_many(processes: int, options: Options) -> None:
    if processes > options.concurrency:
        raise BadParams(
            f"{processes} processes cannot share {options.concurrency} fetches at once: each needs one at least",
            hint=f"--processes {options.concurrency} at most, or --concurrency {processes} at least",
        )


def scanned_again(call: Call, ledger: Ledger, job: Job, mode: str | None) -> tuple[Job, bool]:
    """With --mode new or full a completed job is opened for a new run: (the job, whether that was said)."""
    if mode not in MODES or job.status != "completed":
        return job, False
    counts = ledger.books(job.id)[1]
    try:
        where = catalogue.kind_of(job).scanned(ledger, job, mode, call.settings.artifacts, call.clock.wall_ms())
        after = rescan(ledger, job, mode=mode, where=where, actor="cli")
    except (IllegalMove, Refused):
        return ledger.job(job.id), False  # another command moved it: its new state decides
    warn(call, after)
    call.console.say(summary.scanning_again(job, counts, mode, call.clock.wall_ms()))
    return after, True


def announce(call: Call, ledger: Ledger, job: Job, row: RecoveryRule) -> None:
    warn(call, job)
    if row.action == "start":
        call.console.say(summary.starting(job))
        return
    now, counts, _ = ledger.books(job.id)
    if job.status == "failed":
        call.console.say(f"{job.name} failed: {job.because}.")
    call.console.say(summary.resuming(as_it_stands(ledger, now, is_worked=False), counts, call.clock.wall_ms()))


def warn(call: Call, job: Job) -> None:
    """Said before a job is worked, whatever else it is announced with."""
    if job.options.ignore_robots:
        call.console.insist(f"Warning: {job.name} ignores robots.txt and fetches what it forbids (--ignore-robots).")


def _head(ledger: Ledger, job: Job) -> str:
    """`docs-x  site  https://docs.x.dev   R-4 resumed at 1000 done`"""
    counts = ledger.books(job.id)[1]
    run = f"R-{job.run + 1} " + (f"resumed at {counts.succeeded} done" if job.run else "started")
    return f"{job.name}  {job.recipe}{summary.inputs(job)}   {run}"


def _left(call: Call, ledger: Ledger, job: Job) -> Result:
    """A job that nothing is done to: say so, and why. A job that was paused meanwhile stays paused."""
    now, counts, point = ledger.books(job.id)
    number = None if point is None else point.number
    if now.status == "completed":
        call.console.say(summary.is_complete(now, counts, call.clock.wall_ms()))
    elif now.status == "timeout":
        # It may have stopped at one limit, and be kept from going on by the other.
        reason = limits.reached(now, counts)
        now = replace(now, stop_reason=reason or now.stop_reason)
        mode = getattr(call.options, "mode", None)
        call.console.say(summary.is_timed_out(now, mode if mode in MODES else None))
    elif now.status == "cancelled":
        raise is_cancelled(now)
    return Result(now, counts, number, now.status, left=True)


def conclude(
    call: Call,
    ledger: Ledger,
    result: Result,
    *,
    output: Output | None,
    fail_on: str | float = exits.PROBLEMS,
    beside: Mapping[str, Any] = MappingProxyType({}),
    collected: list[dict[str, Any]] | None = None,
) -> int:
    """Write what was asked for, or what the job remembers of it, then the summary, which is always last.

    Answers the exit code. `beside`: what --json adds to the job's document; it is put to the `collected` ones
    where several jobs make one document.
    """
    if result.worked:  # our own connection stood idle meanwhile: what the workers waited out may have ended it
        Patience(call.clock, call.settings.outage_s).insist(lambda: ledger.books(result.job.id))
        output = output or kept_output(call, result.job)
    elif result.left and output is None and owes_results(call, result.job):
        output = _owed_output(call, result.job)
    wrote = written_before(call, result.job) if output is None and not result.worked else None
    cut_off = ""
    try:
        if output is not None:
            write_results(call, ledger, result.job, result.counts, output)
            wrote = None if output.path is None else shown(output.path)
    except KeyboardInterrupt:
        if output is not None and output.path is not None:
            wrote = not_whole(result.job, output) if result.how in OVER else shown(output.path)
            cut_off = interrupted(output, export_again(result.job, output.path, output.form))
        raise
    finally:
        if result.how != "watched":
            notes = notes_on(ledger, result.job, result.counts)
            told = summary.summary(result.how, result.job, result.counts, result.checkpoint, wrote=wrote, notes=notes)
            call.console.insist(told)
        if cut_off:
            call.console.insist(cut_off)
    if result.lock_waits is not None and call.globals.verbose:
        call.console.say(summary.lock_wait(result.lock_waits))
    if call.globals.json:
        waited = {"lock_wait_ms": result.lock_waits.in_ms()} if result.lock_waits is not None else {}
        past = past_of(ledger, result.job.id, call.clock.wall_ms())
        document = job_document(*ledger.books(result.job.id), past=past) | waited | dict(beside)
        if collected is None:
            call.console.document(document)
        else:
            collected.append(document)
    dead_seed = partial(exits.has_dead_seed, ledger, result.job)
    return exits.of_result(result.how, result.job, result.counts, fail_on, dead_seed=dead_seed)


def _owed_output(call: Call, job: Job) -> Output | None:
    """Where the results of a job that is over are still to be written; None where another command does that."""
    with wiring.held_results(call.settings, job) as is_ours:
        pass
    if not is_ours:
        call.console.say(f"Another command writes the results of {job.name} at the moment.")
        return None
    call.console.say(f"The results of {job.name} are not whole; they are written now.")
    return kept_output(call, job)


def owing(call: Call, ledger: Ledger) -> list[Job]:
    """Jobs that are over, of which a command was killed while it wrote their results."""
    return [job for job in ledger.jobs() if _owes(call, ledger, job)]


def _owes(call: Call, ledger: Ledger, job: Job) -> bool:
    if not wiring.owes_results(call.settings, job) or not catalogue.knows(job):
        return False
    return job.status == "completed" or (job.status == "timeout" and bool(limits.reached(*ledger.books(job.id)[:2])))


def standing_still(ledger: Ledger, *, all_paused: bool = False) -> list[Job]:
    """Jobs that `resume` takes up: left by a crash, SIGTERM or Ctrl-C; with `all_paused` every paused one.

    A job that was set aside by --new is not unfinished work: it is resumed only by its name.
    """
    return [job for job in ledger.jobs() if _stands_still(ledger, job, all_paused)]


def _stands_still(ledger: Ledger, job: Job, all_paused: bool) -> bool:
    if job.identity is None or not catalogue.knows(job):
        return False
    if job.status == "paused":
        return all_paused or job.paused_by == "interrupt"
    wanted = job.requested is None or (job.requested == "pause" and (all_paused or job.paused_by == "interrupt"))
    return job.status == "in_progress" and wanted and holder_of(ledger, job) is None


def name_others(call: Call, ledger: Ledger, job: Job) -> None:
    """A start command works its own job and names the others in one line."""
    others = [other.name for other in standing_still(ledger) if other.id != job.id]
    if others:
        call.console.say(f"Standing still: {', '.join(others)}. Take them up: holdfast resume")
