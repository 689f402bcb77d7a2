"""`holdfast` alone: what is there, and four examples; as JSON the jobs, as of `holdfast status`. Only reads."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.commands.status import every_job, jobs_table
from holdfast.cli.commands.table import EXAMPLES
from holdfast.cli.parser import Parser

JOBS_SHOWN = 10


def arguments(parser: Parser) -> None:
    """It has none."""


def run(call: Call) -> int:
    if call.globals.json or call.globals.jsonl:
        return every_job(call)
    call.console.data(f"{_jobs(call)}\n")
    call.console.data("\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES), "", "More: holdfast --help"]))
    return 0


def _jobs(call: Call) -> str:
    if call.has_ledger():
        with call.existing_ledger() as ledger:
            jobs = ledger.jobs()
            if jobs:
                return jobs_table(call, ledger, jobs[-JOBS_SHOWN:])
    return f"No jobs in {call.settings.data} yet."
