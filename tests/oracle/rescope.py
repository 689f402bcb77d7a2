"""A changed scope in memory: what is pending is judged again, and what an earlier rule of the scope left out."""

from __future__ import annotations

from holdfast.model.edit import EXCLUDED, SCOPE_RULES, Walked
from holdfast.model.states import STATES_OF, State
from holdfast.policy.scope import judge_of
from oracle.books import add_entry, chunk_of, rules_of
from oracle.exclude import leave_out, put_in, rule_anew
from oracle.state import Tables, TargetState


def rejudge(tables: Tables, job: int, looked_at: list[TargetState], *, actor: str) -> Walked:
    """One slice of the walk, by the params that the job has now; seeds stay."""
    judge = judge_of(tables.jobs[job].params)
    out: list[tuple[TargetState, str]] = []
    back: list[TargetState] = []
    others: list[tuple[TargetState, str]] = []
    for row in looked_at:
        if row.parent is None or not _is_open(row):
            continue
        rule = judge(row.url, row.found.depth, tables.targets[row.parent].url)
        if row.state != State.SKIPPED:
            out += [(row, rule)] if rule else []
            continue
        rule = rule or rules_of(tables, job).rule_for(row.found.path) or ""
        if not rule:
            back.append(row)
        elif rule != row.rule:
            others.append((row, rule))
    if out:
        control = chunk_of(tables, job, "control").id
        by = (control, add_entry(tables, control, "exclude"))
        for row, rule in out:
            leave_out(tables, row, by, rule, actor=actor)
    rule_anew(tables, job, others, actor=actor)
    put_in(tables, job, back, actor=actor)
    return Walked(len(back), excluded=len(out))


def _is_open(row: TargetState) -> bool:
    by_scope = row.state == State.SKIPPED and row.disposition == EXCLUDED and row.rule in SCOPE_RULES
    return row.state in STATES_OF["pending"] or by_scope
