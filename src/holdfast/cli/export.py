"""`holdfast export JOB -o FILE`: the results of a job as of its last commit."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.outputs import FORMATS, read_output, write_results
from holdfast.cli.parser import Parser
from holdfast.errors import UsageError


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to; - is stdout")
    parser.add_argument("--format", choices=FORMATS, help="from the suffix of FILE where it is left out (jsonl)")


def run(call: Call) -> int:
    options = call.options
    if options.output is None:
        raise UsageError("export needs a file: -o FILE.jsonl, or -o - for stdout")
    output = read_output(call, options.output, options.format)
    assert output is not None
    with call.existing_ledger() as ledger:
        job, counts, _ = ledger.books(ledger.job(options.job).id)
        rows = write_results(call, ledger, job, counts, output)
    if call.globals.json:
        path = None if output.path is None else str(output.path)
        document = {"schema": "holdfast.export/1", "job": job.uid, "name": job.name, "format": "jsonl", "path": path}
        call.voice.document({**document, "rows": rows, "pending": counts.left})
    return 0
