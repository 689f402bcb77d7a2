"""`holdfast events [JOB]`: who did what, when, why. Only reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.listing import TABLE_ROWS, Listing, limit_argument, show
from holdfast.cli.screen.values import since
from holdfast.model.look import EventKind, EventRow
from holdfast.ports import Ledger
from holdfast.views.history import TYPES, event_document, every_event, kinds_of

FIELDS = ("id", "at", "type", "actor", "job", "name", "verb", "from", "to", "because")
LEASING = (("chunk", "lease"), ("chunk", "release"))
OF_CHUNKS = ("lease.rescued", "chunk.lease", "chunk.release")
EVENTS = Listing(
    noun="events",
    fields=FIELDS,
    head=("AT", "JOB", "TYPE", "VERB", "BY", "FROM", "TO", "BECAUSE"),
    cells=lambda row: (
        row["at"], row["name"], row["type"], row["verb"], row["actor"], row["from"] or "-", row["to"] or "-",
        row["because"] or "",
    ),
    empty="No events fit.",
    cursor=lambda row: str(row["id"]),
)  # fmt: skip


def arguments(parser: Parser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="name or id; all jobs without it")
    parser.add_argument("--since", metavar="WHEN", help="a time such as 2026-03-01T14:00Z, or how long ago: 2h")
    parser.add_argument("--type", action="append", metavar="TYPE", help=f"repeatable, or a,b: {' '.join(TYPES)}")
    limit_argument(parser)


def run(call: Call) -> int:
    kinds = kinds_of([name for text in call.options.type or () for name in text.split(",")])
    begin = 0 if call.options.since is None else since(call.options.since, call.clock.wall_ms())
    if call.options.job is None and not call.has_ledger():
        show(call, EVENTS, [])
        return 0
    with call.existing_ledger() as ledger:
        job = None if call.options.job is None else ledger.job(call.options.job).id
        if call.globals.json or call.globals.jsonl:
            rows = every_event(ledger, job, since=begin, kinds=kinds)
            show(call, EVENTS, _documents(rows), call.options.limit)
        else:
            _newest(call, ledger, job, begin, kinds)
    return 0


def _newest(call: Call, ledger: Ledger, job: int | None, begin: int, kinds: Sequence[EventKind]) -> None:
    """People see the last ones, in the order of time; who leased which chunk only with -v, or where asked for."""
    wanted = call.options.limit or TABLE_ROWS
    without = () if kinds or call.globals.verbose else LEASING
    rows = ledger.events(job, since=begin, kinds=kinds, without=without, limit=wanted + 1, newest=True)
    show(call, EVENTS, _told_once(_documents(iter(rows[-wanted:]))), wanted)
    if len(rows) > wanted:
        call.console.say(f"The last {wanted} are shown. More: --limit N, all of them: --jsonl")


def _told_once(documents: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What happened to many chunks at once is one line with how many: a killed worker held all of them."""
    for _, alike in groupby(documents, key=lambda row: [row[name] for name in FIELDS if name != "id"]):
        first, *more = alike
        many = f"{len(more) + 1} {'chunks' if first['type'] in OF_CHUNKS else 'times'}"
        yield first if not more else {**first, "because": f"{first['because'] or ''} ({many})".strip()}


def _documents(rows: Iterator[EventRow]) -> Iterator[dict[str, Any]]:
    return (event_document(row) for row in rows)
