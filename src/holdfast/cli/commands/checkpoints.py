"""`holdfast checkpoints JOB`: restore points, newest first; --show N: one with its lists. Only reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.listing import Listing, limit_argument, show
from holdfast.cli.screen.text import clean, clean_lines, table, to_json
from holdfast.cli.screen.values import whole
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.model.job import Job
from holdfast.model.look import CheckpointRow
from holdfast.model.record import Checkpoint
from holdfast.ports import Ledger
from holdfast.views.history import (
    checkpoint_document,
    checkpoint_head,
    every_checkpoint,
    links_out,
    listed,
    listed_document,
)
from holdfast.views.levels import LEVELS, level_documents, level_listing

FIELDS = ("number", "at", "label", "reason", "counts", "phase", "checksum", "previous", "valid", "undone_by")
HEAD = ("NUMBER", "AT", "REASON", "DONE", "LEFT", "FAILED", "CHECKSUM")
SHOWN_LINES = 20
LISTS = ("visited", "queued", "external_links")
STATUSES = ("pending", "in_progress", "completed", "failed")
NOT_SHOWN = (
    "type", "job_id", "chunk_id", "created_at", "traceback", "error_message", "previous_checkpoint_id",
    "reconciliation_time", "failed_variation", "last_successful_offset", "project_id",
)  # fmt: skip


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "--show", type=whole(1, 10**12), metavar="N", help="one of them with all that was visited, queued, out of scope"
    )
    parser.add_argument("--level", choices=LEVELS, help="of an images job: its documents of that level, now or as of N")
    parser.add_argument(
        "--status", choices=STATUSES, help="with --level: only those that are pending, in progress, completed or failed"
    )
    limit_argument(parser)


def run(call: Call) -> int:
    if call.options.status is not None and call.options.level is None:
        raise UsageError("--status is about the documents of a level", hint="holdfast checkpoints JOB --level chunk")
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        if call.options.level is not None:
            _show_level(call, ledger, job)
        elif call.options.show is None:
            rows = map(checkpoint_document, every_checkpoint(ledger, job.id))
            show(call, _listing(job), rows, call.options.limit)
        else:
            _show(call, ledger, job, call.options.show)
    return 0


def _listing(job: Job) -> Listing:
    return Listing(
        noun="checkpoints", fields=FIELDS, head=HEAD, cells=_cells, empty=f"{job.name} has no checkpoint yet.",
        cursor=lambda row: str(row["number"]),
    )  # fmt: skip


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if not row["valid"]:
        return str(row["number"]), row["at"], "-", "-", "-", "-", "damaged: its predecessor is used, rows are intact"
    reason = row["reason"] if row["undone_by"] is None else f"{row['reason']}, undone by {row['undone_by']}"
    counts = row["counts"]
    numbers = (str(counts["succeeded"]), str(counts["pending"] + counts["in_progress"]), str(counts["failed"]))
    return str(row["number"]), row["at"], reason, *numbers, row["checksum"][:12]


def _show_level(call: Call, ledger: Ledger, job: Job) -> None:
    point = None if call.options.show is None else _asked_for(call, ledger, job, call.options.show)[1]
    level, now_ms = call.options.level, call.clock.wall_ms()
    found = level_documents(ledger, job, level, point=point, status=call.options.status, now_ms=now_ms)
    if call.globals.jsonl:
        for each in found:
            call.console.data(to_json(each))
    elif call.globals.json:
        call.console.document(level_listing(job, level, point, found))
    else:
        call.console.data(clean_lines(_level_table(found) if found else f"{job.name} has no such document."))


def _level_table(documents: list[dict[str, Any]]) -> str:
    """What fits into a line of each: words and numbers, no lists. --json has all."""
    names = [
        name for name in documents[0] if name not in NOT_SHOWN and not isinstance(documents[0][name], (dict, list))
    ]
    head = tuple(name.upper().replace("_", " ") for name in names)
    return table(head, [tuple("-" if each[name] is None else str(each[name]) for name in names) for each in documents])


def _show(call: Call, ledger: Ledger, job: Job, number: int) -> None:
    row, point = _asked_for(call, ledger, job, number)
    head = checkpoint_head(ledger, job, row, point)
    if row.number != number:
        head["instead_of"] = number
    lists = _lists(ledger, job, point)
    if call.globals.jsonl:
        _as_lines(call, head, lists)
    elif call.globals.json:
        _as_document(call, head, lists)
    else:
        _as_text(call, head, lists)


def _asked_for(call: Call, ledger: Ledger, job: Job, number: int) -> tuple[CheckpointRow, Checkpoint]:
    """The one that was asked for, or where that is damaged the newest whole one before it."""
    rows = every_checkpoint(ledger, job.id, before=number + 1)
    asked = next(rows, None)
    if asked is None or asked.number != number:
        newest = next(every_checkpoint(ledger, job.id), None)
        there = "it has none yet" if newest is None else f"its newest is {newest.number}"
        raise NotFound(f"{job.name} has no checkpoint {number}: {there}", hint=f"holdfast checkpoints {job.word}")
    if asked.undone_by is not None:
        raise Refused(
            f"checkpoint {number} of {job.name} was undone by a rollback, which wrote {asked.undone_by}: its lists are "
            "no longer there",
            hint=f"holdfast checkpoints {job.word}",
        )
    return _whole(call, job, asked, rows)


def _whole(
    call: Call, job: Job, asked: CheckpointRow, earlier: Iterator[CheckpointRow]
) -> tuple[CheckpointRow, Checkpoint]:
    """CHK-06: a damaged one is named, and its predecessor serves. Nothing is filled in."""
    for row in (asked, *([] if asked.point is not None else earlier)):
        if row.point is not None:
            if row.number != asked.number:
                call.console.insist(
                    f"Checkpoint {asked.number} of {job.name} fails its checksum; using {row.number}. "
                    "Rows are intact, nothing is fetched again."
                )
            return row, row.point
    raise NotFound(f"checkpoint {asked.number} of {job.name} is damaged and so is every one before it; rows are intact")


def _lists(ledger: Ledger, job: Job, point: Checkpoint) -> dict[str, Iterable[Any]]:
    """Each read page by page while it is written, so that a large one costs no memory."""
    return {
        "visited": map(listed_document, listed(ledger, job.id, point, settled=True)),
        "queued": map(listed_document, listed(ledger, job.id, point, settled=False)),
        "external_links": links_out(ledger, job.id, point),
    }


def _as_document(call: Call, head: dict[str, Any], lists: dict[str, Iterable[Any]]) -> None:
    names = call.console.fields([*head, *LISTS])
    picked = {name: head[name] for name in (names or head) if name in head}
    out = call.console.out
    out.write(to_json(picked)[:-1])
    comma = "," if picked else ""
    for name in (name for name in (names or LISTS) if name in LISTS):
        out.write(f'{comma}"{name}":[')
        for n, row in enumerate(lists[name]):
            out.write(("," if n else "") + to_json(row))
        out.write("]")
        comma = ","
    out.write("}\n")


def _as_lines(call: Call, head: dict[str, Any], lists: dict[str, Iterable[Any]]) -> None:
    call.console.data(to_json({"list": None, **head}))
    for name, rows in lists.items():
        for row in rows:
            call.console.data(to_json({"list": name, **(row if isinstance(row, dict) else {"url": row})}))


def _as_text(call: Call, head: dict[str, Any], lists: dict[str, Iterable[Any]]) -> None:
    numbers = " ".join(f"{name}={value}" for name, value in head["counts"].items())
    call.console.data(clean_lines(f"checkpoint {head['number']} of {head['name']}  {head['at']}  {head['reason']}"))
    call.console.data(f"{numbers}\nchecksum {head['checksum']}\nprevious {head['previous'] or '-'}")
    for name, rows in lists.items():
        shown, count = [], 0
        for row in rows:
            count += 1
            if count <= SHOWN_LINES:
                shown.append(row if isinstance(row, str) else f"{row['url']}  depth {row['depth']}")
        call.console.data("\n".join([f"{name.replace('_', ' ')}: {count}", *(f"  {clean(line)}" for line in shown)]))
        if count > SHOWN_LINES:
            call.console.data(f"  … and {count - SHOWN_LINES} more: --json or --jsonl gives all")
