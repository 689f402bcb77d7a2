"""`holdfast exclude JOB PATTERN`: stop fetching what it matches, also while the job is worked; and the way back."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import command_for
from holdfast.cli.screen.text import table
from holdfast.cli.screen.values import ago, moment, whole
from holdfast.clock import iso
from holdfast.control import exclude as exclusions
from holdfast.errors import UsageError
from holdfast.model.edit import Exclusion
from holdfast.model.job import Job
from holdfast.model.spelling import count_of
from holdfast.ports import Ledger

HEAD = ("N", "PATTERN", "SYNTAX", "ADDED", "STATE")
EXCLUSION = "holdfast.exclusion/1"


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "pattern", nargs="?", metavar="PATTERN", help="glob on the path, as '/tags/*'; without: the list"
    )
    parser.add_argument("--regex", action="store_true", help="PATTERN is a regular expression, searched in the path")
    parser.add_argument("--dry-run", action="store_true", help="say what it would leave out, change nothing")
    parser.add_argument(
        "--remove",
        type=whole(1, 10**9),
        metavar="N",
        help="remove exclusion N, put back what it left out (if unfinished)",
    )
    parser.add_argument("--this-run", action="store_true", help="only until the job is rescanned or restarted")


def run(call: Call) -> int:
    options = call.options
    if options.remove is not None and (options.pattern or options.regex or options.this_run or options.dry_run):
        raise UsageError("--remove N stands alone: leave out pattern and other options", hint="holdfast exclude --help")
    if options.pattern is None and (options.regex or options.this_run or options.dry_run):
        raise UsageError("exclude needs a PATTERN", hint="holdfast exclude docs '/tags/*'")
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(options.job)
        if options.remove is not None:
            return _removed(call, ledger, job)
        if options.pattern is None:
            return _listed(call, ledger, job)
        return _foretold(call, ledger, job) if options.dry_run else _added(call, ledger, job)


def _syntax(call: Call) -> str:
    return "regex" if call.options.regex else "glob"


def _foretold(call: Call, ledger: Ledger, job: Job) -> int:
    told = exclusions.foretell(ledger, job, call.options.pattern, syntax=_syntax(call))
    if call.globals.json:
        names = ("removes", "of_pending", "kept_succeeded", "sample")
        found = {name: getattr(told, name) for name in names}
        call.console.document({"schema": "holdfast.exclusion_preview/1", **found})
        return 0
    kept = f"; {told.kept_succeeded} that succeeded would be kept" if told.kept_succeeded else ""
    call.console.say(f"Would leave out {told.removes} of {told.of_pending} pending{kept}; nothing was changed.")
    for url in told.sample:
        call.console.data(url)
    return 0


def _added(call: Call, ledger: Ledger, job: Job) -> int:
    made, left_out = exclusions.exclude(
        ledger, job, call.options.pattern, syntax=_syntax(call), this_run=call.options.this_run, actor="cli"
    )
    told = count_of(left_out, "pending target")
    call.console.say(f"Exclusion {made.n} of {job.name}: {told} left out by {made.pattern}")
    call.console.say(f"  undo: holdfast exclude {job.word} --remove {made.n}")
    if call.globals.json:
        call.console.document({"schema": EXCLUSION, **exclusion_object(made), "removed": left_out})
    return 0


def _removed(call: Call, ledger: Ledger, job: Job) -> int:
    earlier = next((each for each in ledger.exclusions(job.id) if each.n == call.options.remove), None)
    gone, back = exclusions.include(ledger, job, call.options.remove, actor="cli")
    is_complete = ledger.job(job.id).status == "completed"
    call.console.say(
        f"Exclusion {gone.n} of {job.name} ({gone.pattern}) {_told_removal(call, earlier, back, is_complete)}"
    )
    if is_complete:
        call.console.say(f"  {job.name} is complete; to fetch what it left out: {command_for(job, 'rescan')}")
    if call.globals.json:
        call.console.document({"schema": EXCLUSION, **exclusion_object(gone), "put_back": back})
    return 0


def _told_removal(call: Call, earlier: Exclusion | None, back: int, is_complete: bool) -> str:
    """Of a removal that was cut short, the second one puts back the rest."""
    if earlier is not None and earlier.removed_at is not None and not back:
        return f"was removed already, {ago(earlier.removed_at, call.clock.wall_ms())} by {earlier.removed_by}."
    return "is removed." if is_complete else f"is removed: {count_of(back, 'target')} put back."


def _listed(call: Call, ledger: Ledger, job: Job) -> int:
    every = ledger.exclusions(job.id)
    if call.globals.json:
        call.console.listing("exclusions", [exclusion_object(each) for each in every])
        return 0
    if not every:
        call.console.say(f"{job.name} has no exclusions.")
        return 0
    now = call.clock.wall_ms()
    rows = [
        (str(each.n), each.pattern, each.syntax, f"{moment(each.at, now)} by {each.actor}", _state(each, job, now))
        for each in every
    ]
    call.console.data(table(HEAD, rows))
    return 0


def _state(exclusion: Exclusion, job: Job, now: int) -> str:
    if exclusion.removed_at is not None:
        return f"removed {moment(exclusion.removed_at, now)} by {exclusion.removed_by}"
    return "active" if exclusion.is_active(job.generation) else "ended with its run"


def exclusion_object(exclusion: Exclusion) -> dict[str, Any]:
    """An exclusion as every surface shows it."""
    return {
        "n": exclusion.n,
        "pattern": exclusion.pattern,
        "syntax": exclusion.syntax,
        "this_run": exclusion.generation is not None,
        "actor": exclusion.actor,
        "at": iso(exclusion.at),
        "removed_at": iso(exclusion.removed_at),
        "removed_by": exclusion.removed_by,
    }
