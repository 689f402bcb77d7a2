"""`holdfast snapshot JOB [-o FILE]`: the portable form of a job, one file that any ledger can be filled from."""

from __future__ import annotations

from pathlib import Path

from holdfast import wiring
from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import restore_command
from holdfast.cli.screen.values import show_size
from holdfast.control.snapshot_file import take_snapshot
from holdfast.errors import UsageError


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id; no process may be working it")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (snapshots/ in the data folder)")
    bodies = parser.add_mutually_exclusive_group()
    bodies.add_argument(
        "--with-artifacts",
        action="store_true",
        default=True,
        help="with the stored pages and files (this is the default)",
    )
    bodies.add_argument(
        "--without-artifacts",
        dest="with_artifacts",
        action="store_false",
        help="rows only: small, and no page or file in it",
    )


def run(call: Call) -> int:
    options = call.options
    if options.output == "-":
        raise UsageError("a snapshot is a file that is written whole: -o FILE.tar")
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(options.job)
        wanted = None if options.output is None else Path(options.output)
        storage = wiring.storage(call.settings)
        path, manifest = take_snapshot(storage, ledger, job, wanted, with_bodies=options.with_artifacts)
    size, lost = wiring.size_of(path) or 0, manifest.bodies_lost or 0
    if call.globals.json or call.globals.jsonl:
        document = {"schema": "holdfast.snapshot/1", "id": manifest.id, "job": manifest.job_id, "name": manifest.name}
        counted = {"path": str(path), "bytes": size, "segments": len(manifest.segments), "sha256": manifest.sha256}
        called = {"at": manifest.updated_at, "with_artifacts": options.with_artifacts, "counts": manifest.counts}
        call.console.document({**document, **counted, **called, "bodies_lost": lost})
        return exits.OK
    counts = manifest.counts
    call.console.data(f"Wrote {job.name} as it stands to {path} ({show_size(float(f'{size:.3g}'))}).")
    left = counts["pending"] + counts["in_progress"]
    again = restore_command(job, path)
    call.console.say(f"  {counts['discovered']} targets, {left} of them to do. Make a job of it: {again}")
    if lost:
        are = "1 body of an earlier fetch is" if lost == 1 else f"{lost} bodies of earlier fetches are"
        call.console.insist(f"{are} not in it: their bytes are lost. Those that results are made of are all there.")
    return exits.OK
