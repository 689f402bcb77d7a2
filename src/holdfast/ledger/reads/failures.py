"""Failures as people ask for them: in groups by code and host, each with an example. Reads only failed rows."""

from __future__ import annotations

from holdfast.ledger.tx import Tx, marks
from holdfast.model.look import Failures


def failures(tx: Tx, job: int, limit: int) -> list[Failures]:
    """By the index of failed targets, never the whole job; of each group the target found first is the example."""
    groups = tx.rows(
        "SELECT t.code, h.key, count(*), min(d.at), max(d.at), min(t.id) FROM target t "
        "JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
        "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no "
        "WHERE t.job = ? AND t.state = 6 GROUP BY t.code, h.key ORDER BY count(*) DESC, t.code, h.key LIMIT ?",
        (job, limit),
    )
    examples = _examples(tx, [group[5] for group in groups])
    return [
        Failures(
            code=code or "", host=host, count=count, first_at=first_at, last_at=last_at, target=target,
            url=examples[target][0], message=examples[target][1],
        )
        for code, host, count, first_at, last_at, target in groups
    ]  # fmt: skip


def _examples(tx: Tx, targets: list[int]) -> dict[int, tuple[str, str | None]]:
    rows = tx.rows(
        "SELECT t.id, l.origin || t.path, t.because FROM target t JOIN lane l ON l.id = t.lane "
        f"WHERE t.id IN ({marks(targets)})",
        targets,
    )
    return {target: (url, because) for target, url, because in rows}
