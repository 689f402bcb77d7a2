"""`holdfast diff JOB RUN_A RUN_B`: what was added, removed or changed between two runs. Only reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import table, to_json
from holdfast.errors import BadParams, NotFound
from holdfast.model.job import Job
from holdfast.model.look import Change, RunLook
from holdfast.ports import Ledger
from holdfast.views.documents import change_document

KINDS = ("added", "removed", "changed")
SHOWN = 50
ROWS_AT_ONCE = 1000
_RUN = re.compile(r"(?:R-)?([0-9]{1,9})")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("run_a", metavar="RUN_A", help="the earlier run, such as R-3")
    parser.add_argument("run_b", metavar="RUN_B", help="the later run")


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        runs = {row.n: row for row in ledger.runs(job.id)}
        first, second = (_run(job, runs, text) for text in (call.options.run_a, call.options.run_b))
        if first.n >= second.n:
            raise BadParams(f"R-{first.n} is not before R-{second.n}: name the earlier run first")
        changes = _changes(ledger, job, first, second)
        if call.globals.jsonl:
            for change in changes:
                call.console.data(to_json(change_document(change)))
        else:
            _tell(call, job, first, second, list(changes))
    return 0


def _run(job: Job, runs: dict[int, RunLook], text: str) -> RunLook:
    named = _RUN.fullmatch(text)
    if named is None:
        raise BadParams(f"{text!r} names no run; runs are called R-1, R-2 and so on")
    if int(named[1]) not in runs:
        there = f"it has R-1 to R-{max(runs)}" if runs else "it has not been run yet"
        raise NotFound(f"{job.name} has no run R-{named[1]}: {there}", hint=f"holdfast events {job.word}")
    return runs[int(named[1])]


def _changes(ledger: Ledger, job: Job, first: RunLook, second: RunLook) -> Iterator[Change]:
    place: int | None = 0
    while place is not None:
        found, place = ledger.changes(job.id, first, second, after=place, limit=ROWS_AT_ONCE)
        yield from found


def _tell(call: Call, job: Job, first: RunLook, second: RunLook, changes: list[Change]) -> None:
    rows = [change_document(change) for change in changes]
    parts = {kind: [row for row in rows if row["change"] == kind] for kind in KINDS}
    if call.globals.json:
        head = {"schema": "holdfast.diff/1", "job": job.uid, "from": f"R-{first.n}", "to": f"R-{second.n}"}
        call.console.document({**head, **parts})
        return
    told = ", ".join(f"{len(parts[kind])} {kind}" for kind in KINDS)
    call.console.say(f"{job.name} from R-{first.n} to R-{second.n}: {told}.")
    if rows:
        cells = [(row["change"], row["target"], row["url"], row["because"] or "") for row in rows[:SHOWN]]
        call.console.data(table(("CHANGE", "ID", "URL", "BECAUSE"), cells))
    if len(rows) > SHOWN:
        call.console.say(f"The first {SHOWN} are shown. All of them: --jsonl")
