"""`holdfast targets JOB`: the rows of a job, filtered, page by page. Only reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import table
from holdfast.cli.screen.values import whole
from holdfast.errors import UsageError
from holdfast.model.cells import csv_line
from holdfast.model.job import Job
from holdfast.model.target import TargetRow
from holdfast.policy import filters
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of
from holdfast.views.documents import target_document
from holdfast.views.ordering import SORTS, as_planned, parse_sort
from holdfast.views.sorting import sorted_targets

ROWS_AT_ONCE = 500
TABLE_ROWS = 50
HEAD = ("ID", "STATUS", "WHY", "DEPTH", "TRIES", "URL")
KEYED_HEAD = ("KEY", "STATUS", "WHY", "TRIES", "URL")  # of targets with a natural key, such as cases
FIELDS = (
    "id", "key", "url", "type", "status", "disposition", "rule", "code", "depth", "parent", "host", "engine", "chunk",
    "generation", "attempts", "not_before", "because", "found_at", "settled_at", "run", "label",
)  # fmt: skip


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("--where", default="", metavar="FILTER", help="such as 'status:failed -code:http_404 depth:>2'")
    parser.add_argument(
        "--sort", metavar="FIELD", help=f"the order; -FIELD the other way round: {' '.join(SORTS)} (as found)"
    )
    parser.add_argument("--csv", action="store_true", help="a table for spreadsheets, with the columns of --jsonl")
    parser.add_argument("--limit", type=whole(1, 10**12), metavar="N", help=f"at most N (all; {TABLE_ROWS} as a table)")


def run(call: Call) -> int:
    options = call.options
    conditions = filters.parse(options.where)
    sort = None if options.sort is None else parse_sort(options.sort)
    if options.csv and (call.globals.json or call.globals.jsonl):
        raise UsageError("--csv is a form of its own; leave out --json and --jsonl")
    call.console.fields(FIELDS)
    with call.existing_ledger() as ledger:
        job = ledger.job(options.job)
        rows = _rows(ledger, job.id, conditions)
        rows = (
            as_planned(rows, kind_of(job))
            if sort is None
            else sorted_targets(wiring.storage(call.settings), rows, sort)
        )
        _show(call, rows, job, ledger.chunk_names(job.id))
    return 0


def _show(call: Call, rows: Iterator[TargetRow], job: Job, chunks: dict[int, str]) -> None:
    if call.options.csv:
        _as_csv(call, rows, chunks)
    elif call.globals.jsonl:
        _as_lines(call, rows, chunks)
    elif call.globals.json:
        _as_document(call, rows, chunks)
    else:
        _as_table(call, rows, job.name)


def _rows(ledger: Ledger, job: int, conditions: list[filters.Condition]) -> Iterator[TargetRow]:
    after = 0
    while rows := ledger.targets(job, where=conditions, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id


def _as_csv(call: Call, rows: Iterator[TargetRow], chunks: dict[int, str]) -> None:
    call.console.write_bytes_out(csv_line(FIELDS))
    for row in islice(rows, call.options.limit):
        call.console.write_bytes_out(csv_line(target_document(row, chunks).values()))


def _as_lines(call: Call, rows: Iterator[TargetRow], chunks: dict[int, str]) -> None:
    for row in islice(rows, call.options.limit):
        call.console.document(target_document(row, chunks))


def _as_document(call: Call, rows: Iterator[TargetRow], chunks: dict[int, str]) -> None:
    shown, more = _first(rows, call.options.limit)
    cursor = f"T-{shown[-1].id:x}" if more else None
    call.console.listing("targets", [target_document(row, chunks) for row in shown], next_cursor=cursor)


def _as_table(call: Call, rows: Iterator[TargetRow], name: str) -> None:
    shown, more = _first(rows, call.options.limit or TABLE_ROWS)
    if not shown:
        call.console.say(f"No targets of {name} fit." if call.options.where else f"{name} has no targets yet.")
        return
    if any(row.name for row in shown):
        cells = [(row.name or f"T-{row.id:x}", row.status, _why(row), str(row.attempts), row.url) for row in shown]
        call.console.data(table(KEYED_HEAD, cells))
    else:
        plain = [(f"T-{row.id:x}", row.status, _why(row), str(row.depth), str(row.attempts), row.url) for row in shown]
        call.console.data(table(HEAD, plain))
    if more:
        call.console.say(f"The first {len(shown)} are shown. More: --limit N, all of them: --jsonl or --csv")


def _why(row: TargetRow) -> str:
    return row.code or " ".join(part for part in (row.disposition, row.rule) if part) or "-"


def _first(rows: Iterator[TargetRow], limit: int | None) -> tuple[list[TargetRow], bool]:
    """Up to `limit` rows, and whether there are more."""
    found: list[TargetRow] = []
    for row in rows:
        if limit is not None and len(found) == limit:
            return found, True
        found.append(row)
    return found, False
