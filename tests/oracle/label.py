"""Marks on targets, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.errors import NotFound
from holdfast.policy.marks import check_word
from oracle.books import add_entry, add_event, chunk_of, read_job
from oracle.state import Tables


def label(tables: Tables, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
    """Mark these targets, or take their marks away (None), as one numbered commit with an event; how many."""
    if word is not None:
        check_word(word)
    before, wanted = read_job(tables, job), sorted(set(targets))
    missing = [each for each in wanted if each not in tables.targets or tables.targets[each].job != job]
    if missing:
        raise NotFound(f"{before.name} has no target {', '.join(f'T-{target:x}' for target in missing[:5])}")
    control = chunk_of(tables, job, "control").id
    add_entry(tables, control, "label")
    kept = {target: mark for target, mark in tables.labels.items() if target not in wanted}
    tables.labels = kept if word is None else {**kept, **dict.fromkeys(wanted, word)}
    tables.jobs[job] = replace(before, version=before.version + 1)
    because = f"{len(wanted)} marked {word}" if word is not None else f"{len(wanted)} without a mark"
    add_event(tables, control, "job", "label", before.status, before.status, actor=actor, because=because)
    return len(wanted)
