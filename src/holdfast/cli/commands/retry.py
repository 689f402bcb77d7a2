"""`holdfast retry JOB --where FILTER`: failed targets once more, exactly those that `targets --where` lists."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.refusals import refusal
from holdfast.cli.screen.values import whole
from holdfast.cli.start.carry_on import PROCESSES_HELP, carry_on, conclude, fork_server_for
from holdfast.control import reopen
from holdfast.control.retry import foretell
from holdfast.engine import recovery
from holdfast.errors import IllegalMove
from holdfast.model.job import WORK_CHUNKS, Job
from holdfast.model.spelling import count_of
from holdfast.policy import filters
from holdfast.ports import Ledger
from holdfast.recipes import catalogue
from holdfast.views.documents import target_document

DEFAULT = "status:failed"


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("--where", default=DEFAULT, metavar="FILTER", help=f"which failed targets ({DEFAULT})")
    parser.add_argument("--queue-only", action="store_true", help="put them back, work nothing")
    parser.add_argument("--dry-run", action="store_true", help="say what would be put back, change nothing")
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)


def run(call: Call) -> int:
    where = filters.resolved(filters.parse(call.options.where), call.clock.wall_ms())
    with fork_server_for(call) as fork_server, call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(call.options.job)
        if call.options.dry_run:
            return _foretold(call, ledger, job, where)
        if not call.options.queue_only:
            catalogue.recipe_for(job)  # one that cannot be loaded moves nothing
        try:
            after, requeued = reopen.retry(ledger, job, where, actor="cli", because=f"retry {call.options.where}")
        except IllegalMove as error:
            now = ledger.job(job.id)
            raise refusal(now, error, is_worked=recovery.holder_of(ledger, now) is not None) from error
        _tell(call, after, requeued)
        if after.status != "in_progress" or call.options.queue_only:
            if call.globals.json:
                call.console.document(
                    {"schema": "holdfast.retry/1", "job": after.uid, "status": after.status, "requeued": requeued}
                )
            return 0
        return conclude(call, ledger, carry_on(call, ledger, after, fork_server), output=None)


def _tell(call: Call, job: Job, requeued: int) -> None:
    if not requeued:
        call.console.say(f"No failed target of {job.name} fits: nothing to retry.")
        return
    call.console.say(f"Queued {count_of(requeued, 'failed target')} of {job.name} again.")
    if job.status == "in_progress" and call.options.queue_only:
        call.console.say(f"  work them: holdfast resume {job.word}")
    elif job.status != "in_progress":
        call.console.say(f"  {job.name} stays {job.status}; continue: holdfast resume {job.word}")


def _foretold(call: Call, ledger: Ledger, job: Job, where: list[filters.Condition]) -> int:
    """What a retry would put back; an illegal one is refused here as it would be there."""
    try:
        told = foretell(ledger, job, where)
    except IllegalMove as error:
        raise refusal(job, error, is_worked=recovery.holder_of(ledger, job) is not None) from error
    sample = [target_document(row) for row in told.sample]
    if call.globals.json:
        document = {"job": job.uid, "requeues": told.requeues, "of_failed": told.of_failed, "sample": sample}
        call.console.document({"schema": "holdfast.retry_preview/1", **document})
        return 0
    numbers = f"{told.requeues} of {told.of_failed}"
    call.console.say(f"Would queue {numbers} failed targets of {job.name} again; nothing was changed.")
    for row in sample:
        call.console.data(f"{row['id']}  {row['code']}  {row['url']}")
    return 0
