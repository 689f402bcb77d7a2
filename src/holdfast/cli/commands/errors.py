"""`holdfast errors JOB`: failures by code and host, with examples and the retry command. Only reads."""

from __future__ import annotations

import shlex

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.listing import Listing, limit_argument, show
from holdfast.cli.screen.text import clean, table
from holdfast.cli.screen.values import moment
from holdfast.model.codes import CODES
from holdfast.model.job import Job
from holdfast.model.look import Failures
from holdfast.model.spelling import count_of
from holdfast.policy.retry import bare
from holdfast.ports import Ledger
from holdfast.views.documents import failures_document, retry_command

GROUPS_MAX = 10_000
FIELDS = ("code", "host", "count", "first_at", "last_at", "example", "hint")
HEAD = ("COUNT", "CODE", "HOST", "FIRST", "LAST", "EXAMPLE")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    limit_argument(parser)


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        groups = ledger.failures(job.id, limit=GROUPS_MAX)
        if call.globals.json or call.globals.jsonl:
            show(call, _listing(), (failures_document(job, group) for group in groups), call.options.limit)
        else:
            _tell(call, ledger, job, groups)
    return 0


def _listing() -> Listing:
    return Listing(
        noun="errors", fields=FIELDS, head=HEAD, cells=lambda row: (), empty="",
        cursor=lambda row: f"{row['code']}@{row['host']}",
    )  # fmt: skip


def _tell(call: Call, ledger: Ledger, job: Job, groups: list[Failures]) -> None:
    counts = ledger.books(job.id)[1]
    if not groups:
        skipped = f" {counts.skipped} were skipped by rule: holdfast targets {job.word} --where status:skipped"
        call.console.say(f"No failed targets.{skipped if counts.skipped else ''}")
        return
    now_ms = call.clock.wall_ms()
    rows = [
        (
            str(group.count), group.code, group.host, moment(group.first_at or 0, now_ms),
            moment(group.last_at or 0, now_ms), f"{group.url}  {bare(group.message or '', group.code, group.url)}",
        )
        for group in groups[: call.options.limit or GROUPS_MAX]
    ]  # fmt: skip
    call.console.data(table(HEAD, rows))
    hopeless = [code for code in dict.fromkeys(row[1] for row in rows) if code in CODES]
    for code in hopeless:
        call.console.data(f"{code}: {CODES[code].meaning}")
    codes = {group.code for group in groups}  # also of groups that --limit leaves out
    again = f"holdfast retry {job.word}" if len(codes) > 1 else retry_command(job, f"code:{groups[0].code}")
    told = f"{count_of(counts.failed, 'failed target')}. Again: {clean(again)}"
    call.console.say(f"{told}   One of them: holdfast explain {job.word} {shlex.quote(groups[0].url)}")
