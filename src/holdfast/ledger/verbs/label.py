"""Marks that people put on targets: rejected, keep, or a word of their own. A mark changes nothing of the crawl."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import NotFound
from holdfast.ledger.books import add_entry, add_event
from holdfast.ledger.tx import Tx, marks, padded
from holdfast.ledger.verbs.jobs import control_chunk, next_number, read_job
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT
from holdfast.policy.marks import check_word


def label(tx: Tx, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
    """Mark these targets, or take their marks away (None), as one numbered commit with an event; how many."""
    if word is not None:
        check_word(word)
    before = read_job(tx, job, locked=True)
    wanted = sorted(set(targets))
    missing = sorted(set(wanted) - _known(tx, job, wanted))
    if missing:
        raise NotFound(f"{before.name} has no target {', '.join(f'T-{target:x}' for target in missing[:5])}")
    chunk, no, epoch = next_number(tx, control_chunk(tx, job))
    add_entry(tx, chunk, no, epoch, "label", n=len(wanted))
    if word is None:
        tx.many("DELETE FROM label WHERE target = ?", [(target,) for target in wanted])
    else:
        tx.many(
            "INSERT INTO label (target, job, word, actor, at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (target) DO UPDATE SET word = excluded.word, actor = excluded.actor, at = excluded.at",
            [(target, job, word, actor, tx.wall()) for target in wanted],
        )
    tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))
    because = f"{len(wanted)} marked {word}" if word is not None else f"{len(wanted)} without a mark"
    add_event(tx, chunk, "job", "label", before.status, before.status, actor=actor, because=because)
    return len(wanted)


def _known(tx: Tx, job: int, targets: list[int]) -> set[int]:
    found: set[int] = set()
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        rows = tx.rows(f"SELECT id FROM target WHERE id IN ({marks(part)}) AND job = ?", (*part, job))
        found.update(row[0] for row in rows)
    return found
