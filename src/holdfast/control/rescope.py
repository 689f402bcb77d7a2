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
from holdfast.model.edit import Walked
from holdfast.model.job import Job
from holdfast.ports import Ledger


def update_scope(ledger: Ledger, job: Job, params: dict[str, Any], *, actor: str, because: str) -> tuple[Job, Walked]:
    """(the job under its new params, how many targets were left out and put back).

    Refused, and nothing is changed, where somebody works it, or where somebody else gave it another scope meanwhile.
    """
    repeated(lambda: ledger.rescue(job.id, is_dead=is_dead), tries=VERB_TRIES)
    after = repeated(lambda: ledger.rescope(job, params, actor=actor, because=because), tries=VERB_TRIES)
    back = out = 0
    while (done := repeated(lambda: judge_on(ledger, job.id), tries=VERB_TRIES)) is not None:
        back, out = back + done.requeued, out + done.excluded
    return after, Walked(back, excluded=out)
