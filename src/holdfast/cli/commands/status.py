"""`holdfast status [JOB]`: one screen of state, or all jobs. Only reads."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.notes import notes_on
from holdfast.cli.screen.refusals import ways_on
from holdfast.cli.screen.summary import PAGE_LIMIT, books, inputs
from holdfast.cli.screen.text import clean_lines, parts_of, table, to_json
from holdfast.cli.screen.values import ago, moment, span
from holdfast.cli.start.outputs import not_whole, owes_results
from holdfast.engine.recovery import holder_of
from holdfast.engine.waits import hosts_held, waited_for
from holdfast.errors import UsageError
from holdfast.model.job import Job
from holdfast.model.lease import Owner
from holdfast.model.record import Checkpoint
from holdfast.model.spelling import count_of
from holdfast.model.states import COUNTED
from holdfast.ports import Ledger
from holdfast.views.breakdown import breakdown_document, groupings
from holdfast.views.job import average_rate, because, job_document
from holdfast.views.job_view import job_view
from holdfast.views.standing import as_it_stands, is_queued

WORDS = {
    "pending": "Queued",
    "in_progress": "Running",
    "paused": "Paused",
    "completed": "Done",
    "failed": "Failed",
    "timeout": "Timed out",
    "cancelled": "Cancelled",
}
REQUESTED = {"pause": "Pausing", "cancel": "Cancelling", "time_out": "Stopping"}
INTERRUPTED, STOPPED = "Interrupted", "Stopped"
HEAD = ("JOB", "ID", "KIND", "STATE", "DONE", "LEFT", "FAILED", "SINCE")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="name or id; all jobs without it")
    parser.add_argument("--by", choices=groupings(), help="the books split into groups")


def run(call: Call) -> int:
    if call.options.job is None:
        if call.options.by is not None:
            raise UsageError("--by splits the books of one job: name it", hint="holdfast status JOB --by host")
        return every_job(call)
    if call.options.by is not None:
        return _split(call)
    with call.existing_ledger() as ledger:
        found = ledger.job(call.options.job)
        newest = _newest_number(ledger, found)  # asked before the books: one that is written meanwhile is not damaged
        job, _, point = ledger.books(found.id)
        damaged = newest if newest > (0 if point is None else point.number) else None
        if call.globals.json or call.globals.jsonl:
            document = job_view(ledger, job.id, now_ms=call.clock.wall_ms(), life_s=call.settings.lease_s)
            call.console.document(document if damaged is None else {**document, "damaged_checkpoint": damaged})
        else:
            call.console.data(clean_lines(_screen(call, ledger, job, damaged)))
    return 0


def _split(call: Call) -> int:
    """`--by`: the identity per group."""
    with call.existing_ledger() as ledger:
        document = breakdown_document(ledger, ledger.job(call.options.job), call.options.by)
    if call.globals.json:
        call.console.document(document)
    elif call.globals.jsonl:
        for row in document["groups"]:
            call.console.data(to_json(row))
    else:
        call.console.data(_groups_table(call.options.by, document["groups"]))
    return 0


def _groups_table(by: str, groups: list[dict[str, Any]]) -> str:
    """A line per group: of an images job what became of the URLs, of others the books."""
    if groups and "images" in groups[0]:
        return _images_table(by.split(","), [row for row in groups if row["group"] is not None])
    numbers = ("discovered", *COUNTED)
    head = (by.upper(), *(name.upper().replace("_", " ") for name in numbers))
    return table(head, [(row["group"] or "-", *(str(row[name]) for name in numbers)) for row in groups])


def _images_table(parts: list[str], groups: list[dict[str, Any]]) -> str:
    numbers = list(groups[0]["images"]) if groups else []
    names = [tuple(row[part] for part in parts) if len(parts) > 1 else (row["group"],) for row in groups]
    cells = [tuple("-" if n is None else str(n) for n in row["images"].values()) for row in groups]
    head = (*(part.upper() for part in parts), *(name.upper() for name in numbers))
    return table(head, [(*name, *line) for name, line in zip(names, cells, strict=True)])


def every_job(call: Call) -> int:
    """All jobs of the ledger, in the form that was asked for."""
    if not call.has_ledger():
        return no_jobs(call)
    with call.existing_ledger() as ledger:
        jobs = ledger.jobs()
        if not jobs:
            return no_jobs(call)
        show_jobs(call, ledger, jobs)
    return 0


def show_jobs(call: Call, ledger: Ledger, jobs: list[Job]) -> None:
    """The jobs in the form that was asked for."""
    if call.globals.json:
        call.console.listing("jobs", [_document(ledger, job) for job in jobs])
    elif call.globals.jsonl:
        for job in jobs:
            call.console.document(_document(ledger, job))
    else:
        call.console.data(jobs_table(call, ledger, jobs))


def no_jobs(call: Call) -> int:
    if call.globals.json:
        call.console.listing("jobs", [])
    elif not call.globals.jsonl:
        call.console.say(f"No jobs in {call.settings.data} yet. Start one: holdfast crawl https://docs.example.dev")
    return 0


def jobs_table(call: Call, ledger: Ledger, jobs: list[Job]) -> str:
    """One line per job, newest first."""
    now_ms = call.clock.wall_ms()
    rows = []
    for job in reversed(jobs):
        now, counts, _ = ledger.books(job.id)
        owner = holder_of(ledger, now)
        now = as_it_stands(ledger, now, is_worked=owner is not None)
        state = word_of(now, owner)
        numbers = (str(counts.succeeded), str(counts.left), str(counts.failed))
        rows.append((now.name, now.uid, now.recipe, state, *numbers, ago(now.since, now_ms)))
    return table(HEAD, rows)


def word_of(job: Job, owner: Owner | None) -> str:
    """The state as screens say it; a running job that no process works says so."""
    if job.status == "in_progress" and owner is None:
        return WORDS["pending"] if is_queued(job) else INTERRUPTED
    if job.requested:
        return REQUESTED[job.requested]
    return STOPPED if (job.status, job.stop_reason) == ("timeout", PAGE_LIMIT) else WORDS[job.status]


def _newest_number(ledger: Ledger, job: Job) -> int:
    [(number,)] = ledger.query("SELECT coalesce(max(number), 0) FROM checkpoint WHERE job = ?", (job.id,))
    return int(number)


def _screen(call: Call, ledger: Ledger, job: Job, damaged: int | None) -> str:
    now, counts, point = ledger.books(job.id)
    owner, wall_ms = holder_of(ledger, now), call.clock.wall_ms()
    waits = waited_for(ledger, now, counts, wall_ms)
    now = as_it_stands(ledger, now, is_worked=owner is not None, now_ms=wall_ms, life_s=call.settings.lease_s)
    why = because(now, counts, waiting=waits)
    if now.status == "in_progress" and owner is None:
        why = "no worker has begun it" if is_queued(now) else "no process works it"
    lines = [
        f"{now.name}  {now.uid}  {now.recipe}{inputs(now)}   {f'R-{now.run}' if now.run else 'not run yet'}",
        f"{word_of(now, owner)}: {why}, since {moment(now.since, wall_ms)}",
        books(counts),
    ]
    if counts.failed:
        lines.append(f"  failed: {parts_of(counts.failed_by)}")
    if counts.skipped:
        lines.append(f"  skipped: {parts_of(counts.skipped_by)}")
    held = [] if waits else hosts_held(ledger, now, wall_ms)
    lines += [f"  {note}" for note in (*held, *notes_on(ledger, now, counts))]
    rate = average_rate(now, counts)
    facts = [
        _checkpoint(point, damaged, wall_ms),
        f"active {span(now.active_ms / 1000)}",
        *([f"{rate:.1f}/s"] if rate is not None else []),
        *([f"health {now.health}"] if now.health else []),
        *([f"recovered {count_of(now.recoveries, 'time')}, {now.refetched} fetched again"] if now.recoveries else []),
        *([f"worked by {owner}"] if owner is not None else []),
    ]
    if now.options.output:
        lines.append(f"  results: {_results(call, now)}")
    ways = ", ".join(ways_on(now, is_worked=owner is not None))
    return "\n".join([*lines, "   ".join(facts), f"allowed: {ways}"])


def _results(call: Call, job: Job) -> str:
    if owes_results(call, job):
        return not_whole(job)
    return f"{job.options.output}, written when a command that works the job ends"


def _checkpoint(point: Checkpoint | None, damaged: int | None, wall_ms: int) -> str:
    note = "" if damaged is None else f" ({damaged} is damaged)"
    return f"no checkpoint{note}" if point is None else f"checkpoint {point.number}{note}, {ago(point.at, wall_ms)}"


def _document(ledger: Ledger, job: Job) -> dict[str, Any]:
    now, counts, point = ledger.books(job.id)
    worked = holder_of(ledger, now) is not None
    return job_document(as_it_stands(ledger, now, is_worked=worked), counts, point, is_worked=worked)
