"""Exclusions in memory: added, removed, and swept over what is pending."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from holdfast.errors import BadParams, NotFound, Refused
from holdfast.model.edit import EXCLUDED, RULE, SYNTAXES, Exclusion, Place, Swept, Walk
from holdfast.model.job import Job
from holdfast.model.states import STATES_OF, State
from holdfast.policy.exclusion import pattern_of, read
from oracle.books import add_entry, add_event, chunk_of, put, read_job, rules_of
from oracle.state import Commit, Tables, TargetState, UndoRow, WalkRow


def exclusions(tables: Tables, job: int) -> list[Exclusion]:
    return [each for (owner, _), each in sorted(tables.exclusions.items(), key=lambda item: item[0]) if owner == job]


def exclude(tables: Tables, job: int, pattern: str, syntax: str, *, this_run: bool, actor: str) -> Exclusion:
    """Add an exclusion, or find the same one that stands already."""
    if syntax not in SYNTAXES:
        raise BadParams(f"{syntax!r} is not a pattern syntax; one of: {', '.join(SYNTAXES)}")
    read(pattern, syntax)
    before = _open(tables, job)
    generation, every = before.generation if this_run else None, exclusions(tables, job)
    for known in every:
        same = (known.pattern, known.syntax, known.generation) == (pattern, syntax, generation)
        if same and known.is_active(before.generation):
            return known
    made = Exclusion(
        n=len(every) + 1, pattern=pattern, syntax=syntax, generation=generation, actor=actor, at=tables.at.wall_ms
    )
    tables.exclusions[job, made.n] = made
    _note(tables, before, "exclude", f"{made.rule}: {pattern}", actor)
    return made


def include(tables: Tables, job: int, n: int, *, actor: str) -> Exclusion:
    """Remove an exclusion, and leave a walk standing that puts back what it left out, unless the job is complete."""
    before, known = _open(tables, job), tables.exclusions.get((job, n))
    if known is None:
        there = ", ".join(str(each.n) for each in exclusions(tables, job)) or "none"
        raise NotFound(f"{before.name} has no exclusion {n}; it has: {there}")
    if known.removed_at is None:
        known = msgspec.structs.replace(known, removed_at=tables.at.wall_ms, removed_by=actor)
        tables.exclusions[job, n] = known
        _note(tables, before, "include", f"{known.rule}: {known.pattern}", actor)
        if before.status != "completed":
            tables.walks[max(tables.walks, default=0) + 1] = WalkRow(job, "include", actor, Walk(exclusion=n))
    return known


def _open(tables: Tables, job: int) -> Job:
    before = read_job(tables, job)
    if before.status == "cancelled":
        raise Refused(f"{before.name} was cancelled for good: nothing of it will be fetched")
    return before


def _note(tables: Tables, before: Job, verb: str, because: str, actor: str) -> None:
    tables.jobs[before.id] = replace(before, version=before.version + 1)
    control = chunk_of(tables, before.id, "control").id
    add_event(tables, control, "job", verb, before.status, before.status, actor=actor, because=because)


def sweep(tables: Tables, job: int, n: int, after: Place, limit: int) -> Swept:
    """Leave out the next slice of pending targets that exclusion n matches."""
    before, known = _open(tables, job), tables.exclusions.get((job, n))
    if known is None or not known.is_active(before.generation):
        return Swept()
    looked_at = [row for row in _behind(tables, job, after) if row.state in STATES_OF["pending"]][:limit]
    fitting = [row for row in looked_at if pattern_of(known).matches(row.found.path)]
    if fitting:
        control = chunk_of(tables, job, "control").id
        by = (control, add_entry(tables, control, "exclude"))
        for row in fitting:
            leave_out(tables, row, by, known.rule, actor=known.actor)
    left = len(looked_at) == limit
    return Swept(len(fitting), (looked_at[-1].id,) if left else (), left)


def _behind(tables: Tables, job: int, after: Place) -> list[TargetState]:
    [at] = after or (0,)
    return [row for row in tables.targets.values() if row.job == job and row.id > at]


def leave_out(tables: Tables, row: TargetState, by: Commit, rule: str, *, actor: str) -> None:
    """A pending target becomes skipped by a rule, as part of this commit."""
    tables.undo[(row.id, *by)] = UndoRow("exclude", actor, row)
    skipped = replace(
        row, state=State.SKIPPED, disposition=EXCLUDED, rule=rule, code=None, because=None, not_before=None,
        settled_by=by, settled_at=tables.at.wall_ms,
    )  # fmt: skip
    put(tables, skipped, by[0])


def readmit(tables: Tables, job: int, n: int, looked_at: list[TargetState], *, actor: str) -> int:
    """Of these targets put back what removed exclusion n had left out; what another one leaves out is told its rule."""
    ours = [row for row in looked_at if row.state == State.SKIPPED and row.rule == f"{RULE}{n}"]
    others = [(row, rule) for row in ours if (rule := rules_of(tables, job).rule_for(row.found.path)) is not None]
    staying = {row.id for row, _ in others}
    back = [row for row in ours if row.id not in staying]
    rule_anew(tables, job, others, actor=actor)
    put_in(tables, job, back, actor=actor)
    return len(back)


def rule_anew(tables: Tables, job: int, rows: list[tuple[TargetState, str]], *, actor: str) -> None:
    """Targets that were left out stay out, by these rules from now on."""
    if not rows:
        return
    control = chunk_of(tables, job, "control").id
    by = (control, add_entry(tables, control, "exclude"))
    for row, rule in rows:
        tables.undo[(row.id, *by)] = UndoRow("exclude", actor, row)
        tables.targets[row.id] = replace(row, rule=rule, settled_by=by, settled_at=tables.at.wall_ms)


def put_in(tables: Tables, job: int, rows: list[TargetState], *, actor: str) -> None:
    """Ready, with the attempts they had; a suspect is a suspect again."""
    if not rows:
        return
    control = chunk_of(tables, job, "control").id
    by = (control, add_entry(tables, control, "include"))
    for row in rows:
        state = State.SOLO if _was_lost(tables, row) else State.READY
        tables.undo[(row.id, *by)] = UndoRow("include", actor, row)
        put(tables, replace(row, state=state, disposition=None, rule=None, settled_by=None, settled_at=None), by[0])


def _was_lost(tables: Tables, row: TargetState) -> bool:
    earlier = [each.before for (target, _, _), each in tables.undo.items() if target == row.id]
    return any(each.state == State.SOLO and each.generation == row.generation for each in earlier)
