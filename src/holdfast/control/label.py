"""People's marks on targets, as every surface sets them: targets are named by id, key or URL."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engine.reference import find
from holdfast.errors import NotFound
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of


def label(ledger: Ledger, job: Job, targets: Sequence[str], word: str | None, *, actor: str) -> int:
    """Mark targets (`T-9`, keys or URLs), or take their marks away (None); how many. All of them or none."""
    return ledger.label(job.id, [_target(ledger, job, text) for text in targets], word, actor=actor)


def _target(ledger: Ledger, job: Job, text: str) -> int:
    row, _ = find(ledger, job, kind_of(job), text)
    if row is None:
        raise NotFound(f"{job.name} has no target {text}")
    return row.id
