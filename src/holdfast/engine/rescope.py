"""A changed scope, carried out: the walk that judges the targets again, slice by slice."""

from __future__ import annotations

from holdfast.model.edit import Walked
from holdfast.ports import Ledger


def judge_on(ledger: Ledger, job: int) -> Walked | None:
    """The next slice of a changed scope that stands, the walks before it first; None: none stands.

    What a walk before it puts back is judged, and is not what the scope put back.
    """
    if ledger.walking(job, "rescope") is None:
        return None
    first = ledger.walking(job)
    done = ledger.walk(job)
    return done if first == "rescope" else Walked()
