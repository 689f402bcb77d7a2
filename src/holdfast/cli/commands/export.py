"""`holdfast export JOB -o FILE`: the results of a job as of its last commit."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import whole
from holdfast.cli.start.outputs import Selection, interrupted, read_output, write_results
from holdfast.clock import pause_thread
from holdfast.engine.recovery import holder_of
from holdfast.errors import UsageError
from holdfast.model.job import Job
from holdfast.model.target import PageRow
from holdfast.policy import filters
from holdfast.ports import Ledger
from holdfast.views.exports.forms import NAMES, refuse_shards
from holdfast.views.results import parse_fields
from holdfast.views.stream import Stream

GOING = ("pending", "in_progress")
YEARS = range(1970, 10_000)


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to: a file, a FOLDER/ for md; - is stdout")
    parser.add_argument(
        "--format",
        "--to",
        choices=NAMES,
        metavar="FORM",
        help=f"{', '.join(NAMES)}; from the suffix of FILE where it is left out (jsonl)",
    )
    parser.add_argument("--where", default="", metavar="FILTER", help="such as 'url:*/guide/* depth:<3'")
    parser.add_argument("--fields", metavar="LIST", help="url,title names all of them; +duplicate_of adds to the usual")
    parser.add_argument("--distinct", action="store_true", help="of pages with the same bytes only the first one found")
    parser.add_argument(
        "--distinct-text", action="store_true", help="of pages with nearly the same text only the first"
    )
    parser.add_argument("--follow", action="store_true", help="each result once it is committed, until the job ends")
    parser.add_argument("--shard", type=whole(1, 10**9), metavar="N", help="webdataset: images in one tar file (10000)")
    parser.add_argument(
        "--split", default="", metavar="A/B/C", help="webdataset: percent of train/val/test, as 80/10/10"
    )
    parser.add_argument("--consumer", metavar="NAME", help="with --follow -o -: go on behind what NAME has read before")
    parser.add_argument(
        "--date",
        type=_moment,
        metavar="WHEN",
        help="the date of every page, and all of them by URL; equal answers then give equal files",
    )


def run(call: Call) -> int:
    options = call.options
    if options.output is None:
        raise UsageError("export needs a file: -o FILE.jsonl, a folder for Markdown: -o FOLDER/, or -o - for stdout")
    output = read_output(call, options.output, options.format)
    assert output is not None
    refuse_shards(output.form, options.shard, options.split)
    if options.consumer is not None and (not options.follow or output.path is not None):
        raise UsageError("--consumer is for results as they come: --follow -o - --consumer NAME")
    fields = None if options.fields is None else parse_fields(options.fields)
    where = filters.resolved(filters.parse(options.where), call.clock.wall_ms())
    selection = Selection(
        where, fields, options.distinct, options.distinct_text, options.date, options.shard, options.split
    )
    with call.existing_ledger() as ledger:
        job, counts, _ = ledger.books(ledger.job(options.job).id)
        try:
            follow = _followed(call, ledger, job, selection) if options.follow else None
            rows = write_results(call, ledger, job, counts, output, selection, follow)
        except KeyboardInterrupt:
            if output.path is not None:
                call.console.insist(interrupted(output, "the same command"))
            raise
    if call.globals.json:
        path = None if output.path is None else str(output.path)
        document = {"schema": "holdfast.export/1", "job": job.uid, "name": job.name, "format": output.form}
        call.console.document({**document, "path": path, "rows": rows, "pending": counts.left})
    return 0


def _followed(call: Call, ledger: Ledger, job: Job, selection: Selection) -> Iterator[PageRow]:
    """Results as they are committed, until the job has ended or is paused; it waits for a job that no process works."""
    if job.status in GOING and holder_of(ledger, job) is None:
        call.console.say(f"No process works {job.name} now; waiting for results. Ctrl-C stops waiting.")

    def wait(seconds: float) -> None:
        call.console.out.flush()
        pause_thread(seconds)

    consumer = call.options.consumer
    stream = Stream(ledger, job.id, call.clock, consumer=consumer, where=selection.where)
    rows = stream.follow(lambda: ledger.job(job.id).status not in GOING, wait)
    return rows if consumer is None else _flushed(call, rows)


def _flushed(call: Call, rows: Iterator[PageRow]) -> Iterator[PageRow]:
    """Each row is on its way before the next is asked for: only then does it count as read."""
    for row in rows:
        yield row
        call.console.out.flush()


def _moment(text: str) -> int:
    """RFC 3339 or a day, in UTC, as milliseconds."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a moment such as 2026-01-31 or 2026-01-31T12:00:00Z") from None
    if when.year not in YEARS:
        raise ArgumentTypeError(f"must be from the year {YEARS[0]} on, not {text}")
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
