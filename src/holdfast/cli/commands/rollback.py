"""`holdfast rollback JOB CHECKPOINT`: back to a checkpoint; what was found and settled since is undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import refusal, restore_command
from holdfast.cli.screen.values import whole
from holdfast.control import snapshot_file
from holdfast.control.rollback import foretell, fork, rollback, rollback_document
from holdfast.engine.recovery import holder_of
from holdfast.errors import IllegalMove, UsageError
from holdfast.model.edit import RolledBack
from holdfast.model.job import Job
from holdfast.model.spelling import count_of
from holdfast.ports import Ledger


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "checkpoint", type=whole(1, 10**12), metavar="CHECKPOINT", help="its number, as `holdfast checkpoints` lists it"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be undone, change nothing")
    parser.add_argument("--fork", action="store_true", help="leave JOB as it is: a new job goes back")
    parser.add_argument("--name", help="the new job's name (JOB-CHECKPOINT)")


def run(call: Call) -> int:
    options = call.options
    if options.name is not None and not options.fork:
        raise UsageError("--name names the job that --fork makes", hint="holdfast rollback --help")
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(options.job)
        try:
            document = _forked(call, ledger, job) if options.fork and not options.dry_run else _done(call, ledger, job)
        except IllegalMove as error:
            now = ledger.job(job.id)
            raise refusal(now, error, is_worked=holder_of(ledger, now) is not None) from error
        if call.globals.json:
            call.console.document(document)
    return 0


def _done(call: Call, ledger: Ledger, job: Job) -> dict[str, Any]:
    """Go back, or only foretell it; what to tell programs."""
    number, say = call.options.checkpoint, call.console.say
    if call.options.dry_run:
        told = foretell(ledger, job, number)
        _tell(call, f"Would roll {job.name}", told)
        say("  nothing was changed")
        return rollback_document(job, told, dry_run=True)

    def take_snapshot(job: Job) -> Path:
        return snapshot_file.take_snapshot(wiring.storage(call.settings), ledger, job, with_bodies=False)[0]

    done, snapshot = rollback(ledger, job, number, actor="cli", take_snapshot=take_snapshot)
    _tell(call, f"Rolled {job.name}", done)
    say(f"  as it was before: {restore_command(job, snapshot)} --replace")
    say(f"  {job.name} is paused; continue: holdfast resume {job.word}")
    return rollback_document(job, done, dry_run=False, snapshot=snapshot)


def _forked(call: Call, ledger: Ledger, job: Job) -> dict[str, Any]:
    """A new job goes back; what to tell programs."""
    number = call.options.checkpoint

    def copy(job: Job, name: str) -> Job:
        return snapshot_file.copy_job(wiring.storage(call.settings), ledger, job, name, actor="cli")

    made, done = fork(ledger, job, number, call.options.name or f"{job.name}-{number}", actor="cli", copy=copy)
    _tell(call, f"Made {made.name} of {job.name}, and rolled it", done)
    call.console.say(f"  {job.name} is as it was; {made.name} is paused; continue: holdfast resume {made.word}")
    return rollback_document(made, done, dry_run=False, fork_of=job)


def _tell(call: Call, who: str, done: RolledBack) -> None:
    """What becomes of the targets, and the identity as it stands then."""
    call.console.say(f"{who} back to checkpoint {done.checkpoint}: {_undone(done)}.")
    if done.keeps_artifacts:
        pages = count_of(done.keeps_artifacts, "page")
        call.console.say(f"  the bytes of {pages} stay on disk; no result refers to them")
    counts = done.counts.seven()
    parts = " + ".join(f"{counts[name]} {name}" for name in ("succeeded", "failed", "skipped", "cancelled", "pending"))
    call.console.say(f"  discovered {counts['discovered']} = {parts}")


def _undone(done: RolledBack) -> str:
    said = [
        f"{count_of(done.requeues, 'settled target')} pending again",
        f"{done.drops} found since dropped",
    ]
    if done.restores:
        said.append(f"{done.restores} settled as before")
    said += [f"exclusion {n} dropped" for n in done.drops_exclusions]
    said += [f"exclusion {n} back" for n in done.restores_exclusions]
    return ", ".join(said)
