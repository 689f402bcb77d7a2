"""`holdfast jobs`: the jobs of a ledger, filtered. Only reads."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.commands.status import no_jobs, show_jobs, word_of
from holdfast.cli.parser import Parser
from holdfast.engine.recovery import holder_of
from holdfast.model.job import Job
from holdfast.model.states import JOB
from holdfast.policy import filters
from holdfast.ports import Ledger

IN_STATES_ONLY = set(filters.JOB_STATES) - {*JOB.states, *filters.STATUS_ALIASES}


def arguments(parser: Parser) -> None:
    parser.add_argument("--status", metavar="STATUS", help="such as paused,failed; or as in the column STATE: done")
    parser.add_argument("--kind", metavar="KIND", help="such as site")
    parser.add_argument(
        "--stale", action="store_true", help="running, and nothing was committed for an hour (stale_after)"
    )
    parser.add_argument("--where", default="", metavar="FILTER", help="keys: status state kind name health batch stale")


def run(call: Call) -> int:
    conditions = filters.parse(call.options.where, filters.JOBS) + _typed(call)
    if not call.has_ledger():
        return no_jobs(call)
    with call.existing_ledger() as ledger:
        every = ledger.jobs()
        if not every:
            return no_jobs(call)
        fitting = [job for job in every if filters.fits(_values(call, ledger, job), conditions)]
        if fitting or call.globals.json or call.globals.jsonl:
            show_jobs(call, ledger, fitting)
        else:
            call.console.say(f"None of the {len(every)} jobs fits.")
    return 0


def _typed(call: Call) -> list[filters.Condition]:
    """The options, said as filters."""
    status = call.options.status
    key = "state" if status and set(status.split(",")) & IN_STATES_ONLY else "status"
    typed = [(key, status), ("kind", call.options.kind)]
    text = " ".join(f"{name}:{value}" for name, value in typed if value is not None)
    return filters.parse(f"{text} stale:true" if call.options.stale else text, filters.JOBS)


def _values(call: Call, ledger: Ledger, job: Job) -> dict[str, str | None]:
    """What the filters may ask of a job."""
    return {
        "status": job.status,
        "state": word_of(job, holder_of(ledger, job)).lower(),
        "kind": job.recipe,
        "name": job.name,
        "health": job.health,
        "batch": job.options.batch or None,
        "stale": "true" if is_stale(call, ledger, job) else "false",
    }


def is_stale(call: Call, ledger: Ledger, job: Job) -> bool:
    """Said to run, and without a commit for longer than `stale_after`: its worker is stuck, or gone."""
    quiet_ms = call.clock.wall_ms() - max(ledger.pulse(job.id), job.since)
    return job.status == "in_progress" and quiet_ms > call.settings.stale_after_s * 1000
