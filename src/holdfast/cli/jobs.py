"""`holdfast jobs`: the jobs of a ledger, filtered. Only reads."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.status import no_jobs, show_jobs
from holdfast.model.job import Job
from holdfast.policy import filters
from holdfast.ports import Ledger


def arguments(parser: Parser) -> None:
    parser.add_argument("--status", metavar="STATUS", help="such as paused, or paused,failed")
    parser.add_argument("--kind", metavar="KIND", help="such as site")
    parser.add_argument(
        "--stale", action="store_true", help="running, and nothing was committed for an hour (stale_after)"
    )
    parser.add_argument("--where", default="", metavar="FILTER", help="keys: status kind name health batch stale")


def run(call: Call) -> int:
    conditions = filters.parse(call.options.where, filters.JOBS) + _typed(call)
    if not call.has_ledger():
        return no_jobs(call)
    with call.ledger() as ledger:
        every = ledger.jobs()
        if not every:
            return no_jobs(call)
        fitting = [job for job in every if filters.fits(_values(call, ledger, job), conditions)]
        if fitting or call.globals.json or call.globals.jsonl:
            show_jobs(call, ledger, fitting)
        else:
            call.voice.say(f"None of the {len(every)} jobs fits.")
    return 0


def _typed(call: Call) -> list[filters.Condition]:
    """The options, said as filters."""
    typed = [(name, getattr(call.options, name)) for name in ("status", "kind")]
    text = " ".join(f"{name}:{value}" for name, value in typed if value is not None)
    return filters.parse(f"{text} stale:true" if call.options.stale else text, filters.JOBS)


def _values(call: Call, ledger: Ledger, job: Job) -> dict[str, str | None]:
    """What the filters may ask of a job."""
    return {
        "status": job.status,
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
