"""`--update`: changed scope options for what is still pending. The scope's rules decide, the ledger keeps the books.

The targets are judged first and the job's params change last: cut short in between, the same command with --update
finds the difference still there and ends what it began. What was recorded as a link to another site stays one.
"""

from __future__ import annotations

from typing import Any

from holdfast.engine.control import VERB_TRIES
from holdfast.engine.ledger_thread import repeated
from holdfast.engine.liveness import is_dead
from holdfast.errors import Refused
from holdfast.model.edit import Place, Rejudged
from holdfast.model.job import Job
from holdfast.model.keys import seed_address
from holdfast.policy.scope import Scope
from holdfast.ports import Judge, Ledger


def judge_of(params: dict[str, Any]) -> Judge:
    """The rule that leaves a found URL out under these params; "" where it belongs to the site."""
    scope = Scope.of(params)

    def judge(url: str, depth: int, page: str) -> str:
        ruling = scope.judge(seed_address(url), page_host=seed_address(page).host, depth=depth)
        return {"in": "", "external": "scope"}.get(ruling.kind, ruling.rule)

    return judge


def update_scope(ledger: Ledger, job: Job, params: dict[str, Any], *, actor: str, because: str) -> tuple[Job, Rejudged]:
    """(the job under its new params, how many targets were left out and put back).

    Refused where somebody works it, or where somebody else gave it another scope meanwhile: theirs holds.
    """
    repeated(lambda: ledger.rescue(job.id, is_dead=is_dead), tries=VERB_TRIES)
    while ledger.walking(job.id) is not None:  # what a walk puts back later would be judged by nobody
        repeated(lambda: ledger.walk(job.id), tries=VERB_TRIES)
    total = _judged(ledger, job, params, actor)
    try:
        after = repeated(lambda: ledger.amend(job, params=params, actor=actor, because=because), tries=VERB_TRIES)
    except Refused:
        _judged(ledger, job, ledger.books(job.id)[0].params, actor)  # of two at once, the scope that stands judges last
        raise
    return after, total


def _judged(ledger: Ledger, job: Job, params: dict[str, Any], actor: str) -> Rejudged:
    total = Rejudged(left=True)
    while total.left:
        total = _added(total, _next(ledger, job, judge_of(params), total.after, actor))
    return total


def _next(ledger: Ledger, job: Job, judge: Judge, after: Place, actor: str) -> Rejudged:
    return repeated(lambda: ledger.rejudge(job.id, judge, after=after, actor=actor), tries=VERB_TRIES)


def _added(total: Rejudged, part: Rejudged) -> Rejudged:
    return Rejudged(total.excluded + part.excluded, total.readmitted + part.readmitted, part.after, part.left)
