"""`holdfast reprocess JOB`: the recipe run again over stored pages after a change of its parser. Nothing is fetched."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.exits import SOME_FAILED
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import refusal
from holdfast.cli.screen.values import whole
from holdfast.cli.start.carry_on import PROCESSES_HELP, carry_on, conclude, fork_server_for
from holdfast.control import reopen
from holdfast.engine import recovery
from holdfast.errors import IllegalMove
from holdfast.model.job import WORK_CHUNKS, Job
from holdfast.model.outcome import NOT_REPROCESSED
from holdfast.model.spelling import count_of
from holdfast.policy import filters
from holdfast.ports import Ledger
from holdfast.recipes import catalogue


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id; a completed job")
    parser.add_argument("--where", default="", metavar="FILTER", help="which targets (all that have a stored page)")
    parser.add_argument("--dry-run", action="store_true", help="say whether there is something to do, change nothing")
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)


def run(call: Call) -> int:
    where = filters.resolved(filters.parse(call.options.where), call.clock.wall_ms())
    with fork_server_for(call) as fork_server, call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(call.options.job)
        catalogue.recipe_for(job)  # one that cannot be loaded moves nothing
        if call.options.dry_run:
            found = ledger.targets(job.id, where=[*where, *reopen.STORED_PAGES], limit=1)
            there = "There are stored pages" if found else "There are no stored pages"
            call.console.say(f"{there} of {job.name} that fit; nothing was changed.")
            return 0
        try:
            after, requeued = reopen.reprocess(ledger, job, where, actor="cli")
        except IllegalMove as error:
            now = ledger.job(job.id)
            raise refusal(now, error, is_worked=recovery.holder_of(ledger, now) is not None) from error
        if after.status != "in_progress":
            call.console.say(f"No stored page of {job.name} fits: nothing to run again.")
            return 0
        if requeued:
            call.console.say(f"Running {job.recipe} again over {count_of(requeued, 'stored page')} of {job.name}.")
        code = conclude(call, ledger, carry_on(call, ledger, after, fork_server), output=None)
        return _failed(call, ledger, after) or code


def _failed(call: Call, ledger: Ledger, job: Job) -> int:
    """Exit code 3 where the recipe failed on a stored page; such a page keeps its earlier result."""
    if not ledger.targets(job.id, where=(("rule", True, (NOT_REPROCESSED,)),), limit=1):
        return 0
    call.console.say(
        f"The recipe failed on stored pages, which stay as they were: "
        f"holdfast targets {job.word} --where 'rule:{NOT_REPROCESSED}'"
    )
    return SOME_FAILED
