"""`--update`: changed scope options for what is still pending. The scope's rules decide, the ledger keeps the books.

The scope changes in one commit, with a walk that judges the targets. Whoever wants to work the job carries that out
first, so a kill at any moment leaves no target judged by a scope that the job does not have. What was recorded as a
link to another site stays one.
"""

from __future__ import annotations

from typing import Any

from holdfast.engine.liveness import is_dead
from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES
from holdfast.engine.rescope import judge_on
from holdfast.errors import Refused
from holdfast.model.edit import Walked
from holdfast.model.job import Grown, Job, check_chunks
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of, recipe_for


def update_scope(ledger: Ledger, job: Job, params: dict[str, Any], *, actor: str, because: str) -> tuple[Job, Walked]:
    """(the job under its new params, how many targets were left out and put back).

    Refused, and nothing is changed, if a process works it, or if another command gave it another scope meanwhile.
    """
    params = kind_of(job).grown(job.params, params)
    grown = _grown(job, params)
    repeated(lambda: ledger.rescue(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = repeated(lambda: ledger.rescope(job, params, actor=actor, because=because, grown=grown), tries=VERB_TRIES)
    back = out = 0
    while (done := repeated(lambda: judge_on(ledger, job.id), tries=VERB_TRIES)) is not None:
        back, out = back + done.requeued, out + done.excluded
    return after, Walked(back, excluded=out)


def go_on(ledger: Ledger, job: Job, *, actor: str) -> Job:
    """A completed job, opened for more of what it has; nothing that it has is fetched again.

    A target that failed for want of results is retried, so that it is reported once, and not once for each run.
    """
    short = kind_of(job).short_of
    again = (("status", True, ("failed",)), ("code", True, (short,))) if short else (("id", True, ("T-0",)),)
    return repeated(
        lambda: ledger.reopen(job.id, "retry", where=again, actor=actor, because="more is wanted"), tries=VERB_TRIES
    )


def refill(ledger: Ledger, job: Job, *, actor: str) -> bool:
    """After results were thrown out by hand: the job has the places to fill again, when it is worked next.

    False where a job of this kind fills none, or somebody works it now: then its last judgement sees the marks.
    """
    if not kind_of(job).goes_on or job.status == "cancelled":
        return False
    try:
        job = go_on(ledger, job, actor=actor) if job.status == "completed" else job
        update_scope(ledger, job, dict(job.params), actor=actor, because="results were thrown out")
    except Refused:
        return False
    return True


def _grown(job: Job, params: dict[str, Any]) -> Grown | None:
    """The chunks of these params, where the kind of job names them; a recipe of somebody's own never does."""
    recipe = None if kind_of(job).is_own_code else recipe_for(job)
    chunks = () if recipe is None else check_chunks(recipe.chunks(params))
    more = kind_of(job).goes_on
    return Grown(chunks, recipe.planned_total(params), more=more) if recipe is not None and chunks else None
