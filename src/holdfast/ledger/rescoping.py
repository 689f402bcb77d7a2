"""A changed scope, applied: what is pending is judged again, and so is what an earlier rule of the scope left out.

Slice by slice over a job that nobody works, each a commit with undo rows; judged again, a target ends alike.
"""

from __future__ import annotations

from holdfast.errors import Refused
from holdfast.ledger.books import add_entry
from holdfast.ledger.excluding import PENDING, leave_out, put_in, rule_anew, rules_of
from holdfast.ledger.jobs import control_chunk, next_number, read_job
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.undoing import IDS_PER_STATEMENT
from holdfast.model.edit import EXCLUDED, SCOPE_RULES, Place, Rejudged
from holdfast.model.states import State
from holdfast.ports import Judge

_LOOKED_AT = (
    "SELECT t.id, t.state, t.disposition, t.rule, t.depth, t.parent, l.origin, t.path FROM target t "
    "JOIN lane l ON l.id = t.lane WHERE +t.job = ? AND t.id > ? ORDER BY t.id LIMIT ?"
)


def rejudge(tx: Tx, job: int, judge: Judge, after: Place, limit: int, *, actor: str) -> Rejudged:
    """The next slice by id. What was planned stays: a seed is wanted whatever the scope says."""
    before = read_job(tx, job, locked=True)
    if before.status in ("completed", "cancelled"):
        raise Refused(f"{before.name} is {before.status}: nothing of it is pending")
    if one(tx, "SELECT 1 FROM chunk WHERE job = ? AND owner_pid IS NOT NULL LIMIT 1", (job,)) is not None:
        raise Refused(f"{before.name} is being worked; pause it first: holdfast pause {before.name}")
    [at] = after or (0,)
    looked_at = tx.rows(_LOOKED_AT, (job, at, limit))
    open_to_judge = [row for row in looked_at if row[5] is not None and _is_open(row)]
    pages = _pages(tx, sorted({row[5] for row in open_to_judge}))
    rules = {row[0]: judge(row[6] + row[7], row[4], pages[row[5]]) for row in open_to_judge}
    out = {row[0]: rules[row[0]] for row in open_to_judge if row[1] != State.SKIPPED and rules[row[0]]}
    back, others = _back(tx, job, [row for row in open_to_judge if row[1] == State.SKIPPED], rules)
    if out:
        control = next_number(tx, control_chunk(tx, job))
        add_entry(tx, *control, "exclude", n=len(out))
        leave_out(tx, control, out, actor=actor)
    rule_anew(tx, job, others, actor=actor)
    put_in(tx, job, back, actor=actor)
    left = len(looked_at) == limit
    return Rejudged(len(out), len(back), (looked_at[-1][0],) if left else (), left)


def _is_open(row: Row) -> bool:
    """Pending, or left out by a rule of the scope and never tried for it."""
    return row[1] in PENDING or (row[1] == State.SKIPPED and row[2] == EXCLUDED and row[3] in SCOPE_RULES)


def _pages(tx: Tx, targets: list[int]) -> dict[int, str]:
    """The URLs of the pages on which targets were found."""
    found: dict[int, str] = {}
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        sql = f"SELECT t.id, l.origin, t.path FROM target t JOIN lane l ON l.id = t.lane WHERE t.id IN ({marks(part)})"
        found.update((row[0], row[1] + row[2]) for row in tx.rows(sql, part))
    return found


def _back(tx: Tx, job: int, skipped: list[Row], rules: dict[int, str]) -> tuple[list[int], dict[int, str]]:
    """Those that no rule leaves out any more, and those that another rule than before does, with that one."""
    standing = rules_of(tx, job) if skipped else None
    now = {row[0]: rules[row[0]] or (standing.rule_for(row[7]) if standing else None) for row in skipped}
    others = {row[0]: rule for row in skipped if (rule := now[row[0]]) and rule != row[3]}
    return [target for target, rule in now.items() if not rule], others
