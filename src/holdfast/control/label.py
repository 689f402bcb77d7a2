"""People's marks on targets, as every surface sets them: targets are named by id, key or URL."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engine.reference import find
from holdfast.errors import NotFound
from holdfast.model.job import Job
from holdfast.policy.marks import REJECTED
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of


def label(ledger: Ledger, job: Job, targets: Sequence[str], word: str | None, *, actor: str) -> int:
    """Mark targets (`T-9`, keys or URLs), or take their marks away (None); how many. All of them or none."""
    meant = dict.fromkeys(target for text in targets for target in _meant(ledger, job, text, word))
    return ledger.label(job.id, list(meant), word, actor=actor)


def _meant(ledger: Ledger, job: Job, text: str, word: str | None) -> list[int]:
    """The target itself. Where results are targets of their own, a URL means them, and nothing else can be rejected."""
    kind = kind_of(job)
    row, address = find(ledger, job, kind, text)
    if kind.kept_of is not None and (address is not None or word == REJECTED):
        urls = [text, address.url] if address is not None else []
        results = kind.kept_of(ledger, job, row if address is None else None, urls)
        if results:
            return results
        if word == REJECTED:
            raise NotFound(f"{job.name} keeps no {kind.noun} of {text}", hint=f"holdfast explain {job.word} {text}")
    if row is None:
        raise NotFound(f"{job.name} has no target {text}")
    return [row.id]
