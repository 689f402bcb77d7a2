"""A changed scope: one commit has it stand, with a walk that judges again what is pending and what an earlier rule of
the scope left out.

No lease is given while that walk stands, so nothing is claimed or found before it is judged. Each slice is a
commit with undo rows and goes by the params that the job has then; judged again, a target ends alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.errors import Refused
from holdfast.ledger.books import add_entry
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.exclude import PENDING, leave_out, put_in, rule_anew, rules_of
from holdfast.ledger.verbs.jobs import amend, control_chunk, next_number, read_job
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT
from holdfast.model.edit import EXCLUDED, SCOPE_RULES, Walk, Walked
from holdfast.model.job import Grown, Job
from holdfast.model.states import State
from holdfast.policy.growing import added_chunks
from holdfast.policy.scope import has_scope, judge_of

_JUDGED = (
    "SELECT t.id, t.state, t.disposition, t.rule, t.depth, t.parent, l.origin, t.path FROM target t "
    "JOIN lane l ON l.id = t.lane WHERE t.id IN ({marks}) ORDER BY t.id"
)

_WORK_NAMES = "SELECT name FROM chunk WHERE job = ? AND kind = 'work' ORDER BY idx"


def rescope(tx: Tx, known: Job, params: dict[str, Any], grown: Grown | None, *, actor: str, because: str) -> Job:
    """The new params, guarded by what the caller had read, and the walk. If it was done before, answers the same."""
    if grown is None or has_scope(params):
        judge_of(params)  # BadParams now, and not when the walk is carried out
    before = read_job(tx, known.id, locked=True)
    if before.params == params:
        return before
    if before.status in ("completed", "cancelled"):
        raise Refused(f"{before.name} is {before.status}: nothing of it is pending")
    if one(tx, "SELECT 1 FROM chunk WHERE job = ? AND owner_pid IS NOT NULL LIMIT 1", (before.id,)) is not None:
        raise Refused(f"{before.name} is being worked; pause it first: holdfast pause {before.word}")
    names = [name for (name,) in tx.rows(_WORK_NAMES, (before.id,))]
    added = () if grown is None or not grown.chunks else added_chunks(before, names, grown)
    after = amend(tx, known, None, params, actor=actor, because=because)
    if has_scope(params):
        walk = (after.id, actor, msgspec.json.encode(Walk()))
        tx.run("INSERT INTO walk (job, verb, actor, cursor, doc) VALUES (?, 'rescope', ?, 0, ?)", walk)
    if grown is not None:
        tx.run("UPDATE job SET planned_total = ? WHERE id = ?", (grown.planned_total, after.id))
        _add_chunks(tx, after.id, len(names), added)
        if added or grown.more:
            _plan_on(tx, after.id)
    return read_job(tx, after.id)


def _add_chunks(tx: Tx, job: int, first: int, names: Sequence[str]) -> None:
    """Chunks as the others of the job stand."""
    tx.many(
        "INSERT INTO chunk (job, kind, idx, name, epoch, no, at, seq, phase, requested, ruled) "
        "SELECT job, 'work', ?, ?, 0, 0, 0, 0, phase, requested, ruled FROM chunk WHERE job = ? AND kind = 'control'",
        [(first + n, name, job) for n, name in enumerate(names)],
    )


def _plan_on(tx: Tx, job: int) -> None:
    """The plan goes on behind its cursor."""
    tx.run("UPDATE plan SET done = 0 WHERE job = ?", (job,))
    tx.run("UPDATE job SET plan_done = 0 WHERE id = ?", (job,))


def rejudge(tx: Tx, before: Job, targets: list[int], *, actor: str) -> Walked:
    """One slice of the walk. What was planned stays: a seed is wanted whatever the scope says."""
    judge = judge_of(before.params)
    rows = [row for row in _rows(tx, targets) if row[5] is not None and _is_open(row)]
    found_on = _rows(tx, sorted({row[5] for row in rows}))
    pages = {row[0]: row[6] + row[7] for row in found_on}
    rules = {row[0]: judge(row[6] + row[7], row[4], pages[row[5]]) for row in rows}
    out = {row[0]: rules[row[0]] for row in rows if row[1] != State.SKIPPED and rules[row[0]]}
    back, others = _back(tx, before.id, [row for row in rows if row[1] == State.SKIPPED], rules)
    if out:
        control = next_number(tx, control_chunk(tx, before.id))
        add_entry(tx, *control, "exclude", n=len(out))
        leave_out(tx, control, out, actor=actor)
    rule_anew(tx, before.id, others, actor=actor)
    put_in(tx, before.id, back, actor=actor)
    return Walked(len(back), excluded=len(out))


def _is_open(row: Row) -> bool:
    """Pending, or left out by a rule of the scope and never tried for it."""
    return row[1] in PENDING or (row[1] == State.SKIPPED and row[2] == EXCLUDED and row[3] in SCOPE_RULES)


def _rows(tx: Tx, targets: list[int]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        found += tx.rows(_JUDGED.format(marks=marks(part)), part)
    return found


def _back(tx: Tx, job: int, skipped: list[Row], rules: dict[int, str]) -> tuple[list[int], dict[int, str]]:
    """Those that no rule leaves out any more, and those that another rule than before does, with that one."""
    standing = rules_of(tx, job) if skipped else None
    now = {row[0]: rules[row[0]] or (standing.rule_for(row[7]) if standing else None) for row in skipped}
    others = {row[0]: rule for row in skipped if (rule := now[row[0]]) and rule != row[3]}
    return [target for target, rule in now.items() if not rule], others
