"""Exclusions that people add to a job, also while it is worked: what is pending is left out, what is found is judged.

An exclusion is written to every chunk row under its lock, as a request is. It waits for a settle that is under way, and
every later settle reads it with the chunk row: no worker can enqueue or claim a match of an exclusion that it does not
know. The sweep over pending targets only corrects the counts soon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from holdfast.errors import BadParams, NotFound, Refused
from holdfast.ledger.books import add_entry, add_event
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.jobs import control_chunk, next_number, read_job
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT, IMAGED, keep, recount, wake
from holdfast.model.edit import EXCLUDED, RULE, SYNTAXES, Exclusion, Place, Swept, Walk
from holdfast.model.job import Job
from holdfast.model.states import State
from holdfast.policy.exclusion import ExclusionRules, pattern_of, read

COLUMNS = "n, pattern, syntax, gen, actor, at, removed_at, removed_by"
PENDING = (State.READY, State.WAITING, State.SOLO)


def exclusions(tx: Tx, job: int) -> list[Exclusion]:
    rows = tx.rows(f"SELECT {COLUMNS} FROM exclusion WHERE job = ? ORDER BY n", (job,))
    return [_exclusion(row) for row in rows]


def _exclusion(row: Row) -> Exclusion:
    return Exclusion(
        n=row[0], pattern=row[1], syntax=row[2], generation=row[3], actor=row[4], at=row[5], removed_at=row[6],
        removed_by=row[7],
    )  # fmt: skip


def rules_of(tx: Tx, job: int) -> ExclusionRules:
    """What is excluded now; asked only where a chunk row says that there is something."""
    row = one(tx, "SELECT gen FROM job WHERE id = ?", (job,))
    generation = 0 if row is None else int(row[0])
    return ExclusionRules(each for each in exclusions(tx, job) if each.is_active(generation))


def exclude(tx: Tx, job: int, pattern: str, syntax: str, *, this_run: bool, actor: str) -> Exclusion:
    """Add an exclusion, or find the same one that stands already; in either case safe to repeat."""
    if syntax not in SYNTAXES:
        raise BadParams(f"{syntax!r} is not a pattern syntax; one of: {', '.join(SYNTAXES)}")
    read(pattern, syntax)
    before = _open(tx, job)
    generation = before.generation if this_run else None
    every = exclusions(tx, job)
    for known in every:
        same = (known.pattern, known.syntax, known.generation) == (pattern, syntax, generation)
        if same and known.is_active(before.generation):
            return known
    made = Exclusion(n=len(every) + 1, pattern=pattern, syntax=syntax, generation=generation, actor=actor, at=tx.wall())
    tx.run(
        f"INSERT INTO exclusion (job, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
        (job, made.n, pattern, syntax, generation, actor, made.at),
    )
    _note(tx, before, "exclude", f"{made.rule}: {pattern}", actor)
    return made


def include(tx: Tx, job: int, n: int, *, actor: str) -> Exclusion:
    """Remove an exclusion, and leave a walk standing that puts back what it left out; a completed job stays complete.

    One that is removed already is answered.
    """
    before = _open(tx, job)
    known = next((each for each in exclusions(tx, job) if each.n == n), None)
    if known is None:
        there = ", ".join(str(each.n) for each in exclusions(tx, job)) or "none"
        raise NotFound(f"{before.name} has no exclusion {n}; it has: {there}")
    if known.removed_at is None:
        tx.run(
            "UPDATE exclusion SET removed_at = ?, removed_by = ? WHERE job = ? AND n = ?", (tx.wall(), actor, job, n)
        )
        _note(tx, before, "include", f"{known.rule}: {known.pattern}", actor)
        if before.status != "completed":
            doc = msgspec.json.encode(Walk(exclusion=n))
            tx.run("INSERT INTO walk (job, verb, actor, cursor, doc) VALUES (?, 'include', ?, 0, ?)", (job, actor, doc))
    return next(each for each in exclusions(tx, job) if each.n == n)


def _open(tx: Tx, job: int) -> Job:
    before = read_job(tx, job, locked=True)
    if before.status == "cancelled":
        raise Refused(f"{before.name} was cancelled for good: nothing of it will be fetched")
    return before


def _note(tx: Tx, before: Job, verb: str, because: str, actor: str) -> None:
    """Event and version, and the number of active exclusions on every chunk, by id: running settles are waited for."""
    tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (before.id,))
    active = sum(each.removed_at is None for each in exclusions(tx, before.id))
    for (chunk,) in tx.rows(f"SELECT id FROM chunk WHERE job = ? ORDER BY id {tx.lock('chunk')}", (before.id,)):
        tx.run("UPDATE chunk SET ruled = ? WHERE id = ?", (active, chunk))
    add_event(tx, control_chunk(tx, before.id), "job", verb, before.status, before.status, actor=actor, because=because)


def sweep(tx: Tx, job: int, n: int, after: Place, limit: int) -> Swept:
    """Leave out the next slice of pending targets that exclusion n matches, lane by lane."""
    before = _open(tx, job)
    known = next((each for each in exclusions(tx, job) if each.n == n), None)
    if known is None or not known.is_active(before.generation):
        return Swept()
    place = after or (0, 0, -1, 0)
    looked_at, place = _pending(tx, job, place, limit)
    fitting = [target for target, path in looked_at if pattern_of(known).matches(path)]
    if fitting:
        control = next_number(tx, control_chunk(tx, job))
        add_entry(tx, *control, "exclude", n=len(fitting))
        leave_out(tx, control, dict.fromkeys(fitting, known.rule), actor=known.actor)
    return Swept(len(fitting), place, left=place != ())


def _pending(tx: Tx, job: int, place: Place, limit: int) -> tuple[list[tuple[int, str]], Place]:
    """(id, path) of pending targets behind a place (lane, which state, rank, id), and the place behind them.

    By the claim indexes: a lane may hold a million ready targets, and settled ones are in none of them.
    """
    lane, state, rank, target = place
    found: list[tuple[int, str]] = []
    while len(found) < limit:
        row = one(
            tx,
            "SELECT l.id FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = ? AND l.todo > 0 AND l.id >= ? "
            "ORDER BY l.id LIMIT 1",
            (job, lane),
        )
        if row is None:
            return found, ()
        if row[0] != lane:
            lane, state, rank, target = row[0], 0, -1, 0
        # Claims pass by a locked lane, and one that has claimed from it is waited for: what is read stays pending.
        tx.rows(f"SELECT id FROM lane WHERE id = ? {tx.lock('lane')}", (lane,))
        # The state is spelled into the text: a partial index is only used where SQL shows its condition.
        rows = tx.rows(
            f"SELECT id, path, rank FROM target WHERE lane = ? AND state = {int(PENDING[state])} "
            "AND (rank, id) > (?, ?) ORDER BY rank, id LIMIT ?",
            (lane, rank, target, limit - len(found)),
        )
        found += [(each[0], each[1]) for each in rows]
        if len(found) >= limit:
            return found, (lane, state, rows[-1][2], rows[-1][0])
        lane, state, rank, target = (lane + 1, 0, -1, 0) if state == len(PENDING) - 1 else (lane, state + 1, -1, 0)
    return found, (lane, state, rank, target)


def leave_out(tx: Tx, commit: tuple[int, int, int], rules: dict[int, str], *, actor: str) -> None:
    """Pending targets become skipped by their rules, as part of a commit that is being written."""
    rows = _images(tx, list(rules))
    keep(tx, commit, "exclude", rows, actor=actor)
    tx.many(
        "UPDATE target SET state = ?, disposition = ?, rule = ?, code = NULL, because = NULL, not_before = NULL, "
        "done_chunk = ?, done_no = ? WHERE id = ?",
        [(int(State.SKIPPED), EXCLUDED, rules[row[0]], commit[0], commit[1], row[0]) for row in rows],
    )
    for row in rows:
        recount(tx, commit[0], row, "skipped", EXCLUDED)
    lanes = Counter(row[1] for row in rows)
    tx.many("UPDATE lane SET todo = todo - ? WHERE id = ?", [(n, lane) for lane, n in sorted(lanes.items())])


def readmit(tx: Tx, job: int, n: int, targets: Sequence[int], *, actor: str) -> int:
    """Of these targets put back what removed exclusion n had left out; what another one leaves out is told its rule.

    How many were put back.
    """
    ours = [row for row in _left_out(tx, targets) if row[1] == f"{RULE}{n}"]
    rules = rules_of(tx, job)
    others = {row[0]: rule for row in ours if (rule := rules.rule_for(row[2])) is not None}
    back = [row[0] for row in ours if row[0] not in others]
    rule_anew(tx, job, others, actor=actor)
    put_in(tx, job, back, actor=actor)
    return len(back)


def _left_out(tx: Tx, targets: Sequence[int]) -> list[Row]:
    """(id, rule, path) of those that are skipped."""
    rows: list[Row] = []
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        sql = f"SELECT id, rule, path FROM target WHERE id IN ({marks(part)}) AND state = {int(State.SKIPPED)}"
        rows += tx.rows(f"{sql} ORDER BY id", part)
    return rows


def rule_anew(tx: Tx, job: int, rules: dict[int, str], *, actor: str) -> None:
    """Targets that were left out stay out, by these rules from now on."""
    if not rules:
        return
    rows = _images(tx, list(rules))
    control = next_number(tx, control_chunk(tx, job))
    add_entry(tx, *control, "exclude", n=len(rows))
    keep(tx, control, "exclude", rows, actor=actor)
    tx.many(
        "UPDATE target SET rule = ?, done_chunk = ?, done_no = ? WHERE id = ?",
        [(rules[row[0]], control[0], control[1], row[0]) for row in rows],
    )


def put_in(tx: Tx, job: int, targets: list[int], *, actor: str) -> None:
    """Ready, with the attempts they had; a suspect is a suspect again."""
    if not targets:
        return
    rows = _images(tx, targets)
    control = next_number(tx, control_chunk(tx, job))
    add_entry(tx, *control, "include", n=len(rows))
    keep(tx, control, "include", rows, actor=actor)
    suspects = _suspects(tx, targets)
    tx.many(
        "UPDATE target SET state = ?, disposition = NULL, rule = NULL, done_chunk = NULL, done_no = NULL WHERE id = ?",
        [(int(State.SOLO if row[0] in suspects else State.READY), row[0]) for row in rows],
    )
    for row in rows:
        recount(tx, control[0], row, "pending", "")
    wake(tx, Counter(row[1] for row in rows))


def _suspects(tx: Tx, targets: Sequence[int]) -> set[int]:
    """Those whose last attempt was lost with its worker, in the generation that they are in."""
    found: set[int] = set()
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        sql = (
            "SELECT t.id FROM target t JOIN attempt a ON a.chunk = t.last_chunk AND a.no = t.last_no "
            f"AND a.target = t.id AND a.gen = t.gen AND a.outcome = 'lost' WHERE t.id IN ({marks(part)})"
        )
        found.update(row[0] for row in tx.rows(sql, part))
    return found


def _images(tx: Tx, targets: list[int]) -> list[Row]:
    rows: list[Row] = []
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        rows += tx.rows(f"SELECT {IMAGED} FROM target t WHERE t.id IN ({marks(part)}) ORDER BY t.id", part)
    return rows
