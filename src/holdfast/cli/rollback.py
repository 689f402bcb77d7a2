"""`holdfast rollback JOB CHECKPOINT`: back to a checkpoint; what was found and settled since is undone."""

from __future__ import annotations

from pathlib import Path

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.refusals import refusal
from holdfast.cli.text import count_of
from holdfast.cli.values import whole
from holdfast.engine.control import holder_of
from holdfast.engine.rollback import foretell, rollback, rollback_document
from holdfast.errors import IllegalMove
from holdfast.model.edit import RolledBack
from holdfast.model.job import Job
from holdfast.ports import Ledger


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "checkpoint", type=whole(1, 10**12), metavar="CHECKPOINT", help="its number, as `holdfast checkpoints` lists it"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be undone, change nothing")


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        try:
            done, snapshot = _done(call, ledger, job)
        except IllegalMove as error:
            now = ledger.books(job.id)[0]
            raise refusal(now, error, is_worked=holder_of(ledger, now) is not None) from error
        _tell(call, job, done, snapshot)
        if call.globals.json:
            call.voice.document(rollback_document(job, done, dry_run=snapshot is None, snapshot=snapshot))
    return 0


def _done(call: Call, ledger: Ledger, job: Job) -> tuple[RolledBack, Path | None]:
    """What was undone, and the snapshot that was taken before; without one where it is only foretold."""
    number = call.options.checkpoint
    if call.options.dry_run:
        return foretell(ledger, job, number), None

    def take_snapshot(job: Job) -> Path:
        return wiring.take_snapshot(call.settings, ledger, job, with_bodies=False)[0]

    return rollback(ledger, job, number, actor="cli", take_snapshot=take_snapshot)


def _tell(call: Call, job: Job, done: RolledBack, snapshot: Path | None) -> None:
    """What became of the targets, and the identity as it stands then."""
    say, verb = call.voice.say, "Would roll" if snapshot is None else "Rolled"
    say(f"{verb} {job.name} back to checkpoint {done.checkpoint}: {_undone(done)}.")
    if done.keeps_artifacts:
        say(f"  the bytes of {count_of(done.keeps_artifacts, 'page')} stay on disk; no result refers to them")
    counts = done.counts.seven()
    parts = " + ".join(f"{counts[name]} {name}" for name in ("succeeded", "failed", "skipped", "cancelled", "pending"))
    say(f"  discovered {counts['discovered']} = {parts}")
    if snapshot is None:
        say("  nothing was changed")
        return
    say(f"  as it was before: holdfast restore {snapshot} --replace")
    say(f"  {job.name} is paused; continue: holdfast resume {job.name}")


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
