"""The whole document of one job: the one assembly of it, for the command line, Python and REST."""

from __future__ import annotations

from typing import Any

from holdfast.engine.recovery import holder_of
from holdfast.engine.waits import waited_for
from holdfast.model.lease import LEASE_S
from holdfast.ports import Ledger
from holdfast.views.job import average_rate, job_document
from holdfast.views.past import past_of
from holdfast.views.standing import as_it_stands


def job_view(ledger: Ledger, job: int, *, now_ms: int, life_s: float = LEASE_S) -> dict[str, Any]:
    """What `holdfast status JOB --json` gives. `now_ms`: the wall clock; `life_s`: of leases, by the settings."""
    row, counts, point = ledger.books(job)
    worked = holder_of(ledger, row) is not None
    row = as_it_stands(ledger, row, is_worked=worked, now_ms=now_ms, life_s=life_s)
    return job_document(
        row,
        counts,
        point,
        rate_per_second=average_rate(row, counts),
        is_worked=worked,
        waiting=waited_for(ledger, row, counts, now_ms),
        now_ms=now_ms,
        past=past_of(ledger, row.id, now_ms),
    )
