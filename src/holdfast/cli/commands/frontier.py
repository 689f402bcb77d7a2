"""`holdfast frontier JOB`: what comes next, by host, depth or pattern. Only reads."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import table
from holdfast.cli.screen.values import whole
from holdfast.model.job import Job
from holdfast.model.spelling import count_of
from holdfast.views.frontier import GROUPINGS, frontier_document

SHOWN = 20
GROUP_HEAD = ("PENDING", "IN HAND", "NOT BEFORE", "GROUP", "BECAUSE")
NEXT_HEAD = ("ID", "DEPTH", "NOT BEFORE", "URL", "BECAUSE")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("--by", choices=GROUPINGS, default="host", help="how the pending targets are grouped (host)")
    parser.add_argument(
        "--limit",
        type=whole(1, 10_000),
        metavar="N",
        help=f"so many groups and next targets ({SHOWN}; --json: all groups)",
    )


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        by, limit = call.options.by, call.options.limit
        document = frontier_document(ledger, job, by, limit=limit or SHOWN, now_ms=call.clock.wall_ms())
    every = document["groups"]
    if limit or not call.globals.json:
        document["groups"] = every[: limit or SHOWN]
    left_out = document["groups_left_out"] = len(every) - len(document["groups"])
    if call.globals.json:
        call.console.document(document)
    elif call.globals.jsonl:
        for row in document["targets"]:
            call.console.document(row)
    else:
        _tell(call, job, document, left_out)
    return 0


def _tell(call: Call, job: Job, document: dict[str, Any], left_out: int) -> None:
    groups, targets = document["groups"], document["targets"]
    if not groups:
        call.console.say(f"Nothing of {job.name} is pending.")
        return
    cells = [
        (str(row["pending"]), _shown(row["in_progress"]), row["not_before"] or "-", row["group"], row["because"] or "")
        for row in groups
    ]
    call.console.data(table(GROUP_HEAD, cells))
    if left_out:
        call.console.data(f"… and {count_of(left_out, 'group')} more: --limit {len(groups) + left_out}")
    if targets:
        call.console.data("")
        rows = [
            (row["id"], str(row["depth"]), row["not_before"] or "-", row["url"], row["because"] or "")
            for row in targets
        ]
        call.console.data(table(NEXT_HEAD, rows))


def _shown(number: int | None) -> str:
    return "-" if number is None else str(number)
