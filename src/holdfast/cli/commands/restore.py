"""`holdfast restore FILE`: a job made from a snapshot, in this ledger, whichever it came from."""

from __future__ import annotations

from pathlib import Path

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import command_for
from holdfast.control.restore import RestoreOptions
from holdfast.control.snapshot_file import opened_snapshot, restore_snapshot
from holdfast.model.job import Job
from holdfast.model.spelling import count_of
from holdfast.ports import Ledger
from holdfast.views.job import job_document


def arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `holdfast snapshot` wrote")
    parser.add_argument("--name", help="the restored job's name, where its own is taken")
    parser.add_argument("--replace", action="store_true", help="take the name of a job that has it, kept as NAME~1")
    parser.add_argument("--trust", action="store_true", help="also a job that wants more than public pages")


def run(call: Call) -> int:
    options = call.options
    restore_options = RestoreOptions(options.name, options.replace, "cli", options.trust)
    storage = wiring.storage(call.settings)
    with opened_snapshot(storage, Path(options.file)) as snapshot, call.ledger() as ledger:  # nothing is made of damage
        job = restore_snapshot(storage, ledger, snapshot, restore_options)
        job, counts, point = ledger.books(job.id)
        when = snapshot.manifest.updated_at
        call.console.say(f"Restored {job} as it was on {when}: {job.status}, {counts.left} to do.")
        for line in snapshot.demands():
            call.console.insist(f"  trusted: {line}")
        _tell_of_missing(call, ledger, job)
        if job.status == "paused":
            call.console.say(f"  continue: {command_for(job, 'resume')}")
        if call.globals.json:
            call.console.document(job_document(job, counts, point))
    return 0


def _tell_of_missing(call: Call, ledger: Ledger, job: Job) -> None:
    """Of a snapshot without bodies: what a user must know before an export stops at the first of them."""
    from holdfast.audit.segments import short_segments

    folder = call.settings.segments
    short = short_segments(ledger.query, job.id, lambda name: wiring.segment_size(call.settings, name))
    if short:
        pages = count_of(sum(each.pages for each in short), "page")
        call.console.insist(f"The bytes of {pages} are not here: the snapshot has none, and {folder} neither.")
        source = short[0].name.partition("/")[0]
        call.console.insist(f"  copy segments/{source} there, or fetch them again: holdfast doctor --repair")
