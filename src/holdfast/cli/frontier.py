"""`holdfast frontier JOB`: what comes next, by host, depth or pattern. Only reads."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.text import count_of, table
from holdfast.cli.values import whole
from holdfast.engine.frontier import GROUPINGS, frontier_document
from holdfast.model.job import Job

NEXT_SHOWN = 20
GROUPS_SHOWN = 20
GROUP_HEAD = ("PENDING", "IN HAND", "NOT BEFORE", "GROUP", "BECAUSE")
NEXT_HEAD = ("ID", "DEPTH", "NOT BEFORE", "URL", "BECAUSE")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("--by", choices=GROUPINGS, default="host", help="how the pending targets are grouped (host)")
    parser.add_argument(
        "--limit", type=whole(1, 10_000), default=NEXT_SHOWN, metavar="N", help=f"so many next targets ({NEXT_SHOWN})"
    )


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        by, limit = call.options.by, call.options.limit
        document = frontier_document(ledger, job, by, limit=limit, now_ms=call.clock.wall_ms())
    if call.globals.json:
        call.voice.document(document)
    elif call.globals.jsonl:
        for row in document["targets"]:
            call.voice.document(row)
    else:
        _tell(call, job, document)
    return 0


def _tell(call: Call, job: Job, document: dict[str, Any]) -> None:
    groups, targets = document["groups"], document["targets"]
    if not groups:
        call.voice.say(f"Nothing of {job.name} is pending.")
        return
    cells = [
        (str(row["pending"]), _shown(row["in_progress"]), row["not_before"] or "-", row["group"], row["because"] or "")
        for row in groups[:GROUPS_SHOWN]
    ]
    call.voice.data(table(GROUP_HEAD, cells))
    if len(groups) > GROUPS_SHOWN:
        call.voice.data(f"… and {count_of(len(groups) - GROUPS_SHOWN, 'group')} more: --json")
    if targets:
        call.voice.data("")
        rows = [
            (row["id"], str(row["depth"]), row["not_before"] or "-", row["url"], row["because"] or "")
            for row in targets
        ]
        call.voice.data(table(NEXT_HEAD, rows))


def _shown(number: int | None) -> str:
    return "-" if number is None else str(number)
