"""Storing what a page or a plan found: new targets in their lanes, and links that lead out of scope.

Called inside a settle's or an enqueue's transaction; it commits nothing by itself. First finder wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from holdfast.ledger.books import count
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs.due_time import AT_ONCE
from holdfast.ledger.verbs.host_cap import FoundRow, add_to_totals, capped
from holdfast.model.edit import EXCLUDED
from holdfast.model.states import State
from holdfast.model.target import External, Found
from holdfast.policy.exclusion import ExclusionRules


def insert_found(
    tx: Tx,
    job: int,
    found: Sequence[FoundRow],
    phases: dict[int, str],
    rules: ExclusionRules | None = None,
    per_host_max: int | None = None,
) -> defaultdict[int, int]:
    """Insert what is new, first finder wins, keys in order (unordered, PostgreSQL deadlocks).

    Answers how many more there are to do by lane; the caller writes that, since all lanes come after all keys. `rules`
    are the job's exclusions, where it has any: a worker that does not know them enqueues nothing against them.
    `per_host_max` is the job's cap, 0 where it has none; what was planned knows of none, and counts.
    """
    if rules is not None:
        found = [(finder, no, parent, ruled(item, rules)) for finder, no, parent, item in found]
    first: dict[bytes, FoundRow] = {}
    for row in found:
        first.setdefault(row[3].key, row)
    if not first:
        return defaultdict(int)
    if per_host_max:
        first = capped(tx, job, first, per_host_max)
    ordered = [first[key] for key in sorted(first)]
    known = _lanes_of(tx, job, ordered, phases)
    prepared, lanes = [], {}
    for finder, no, parent, item in ordered:
        lane = lanes[item.key] = known[item.chunk_index, phases[finder], item.origin]
        prepared.append(_target_row(job, lane, finder, no, parent, item))
    new = tx.insert_targets(prepared)
    if per_host_max != 0:
        add_to_totals(tx, job, [item for _, _, _, item in ordered if item.key in new])
    todo: defaultdict[int, int] = defaultdict(int)
    for finder, _, _, item in ordered:
        if item.key in new:
            skipped = bool(item.disposition)
            count(tx, finder, item.type, "skipped" if skipped else "pending", item.disposition, 1)
            if not skipped:
                todo[lanes[item.key]] += 1
    _insert_names(tx, job, [item for _, _, _, item in ordered if (item.name or item.params) and item.key in new])
    return todo


def add_todo(tx: Tx, todo: dict[int, int]) -> None:
    """Lanes have so many more to do, at once."""
    now = tx.wall()
    tx.many(
        "UPDATE lane SET todo = todo + ?, due = CASE WHEN due > ? THEN ? ELSE due END WHERE id = ?",
        [(n, now, AT_ONCE, lane) for lane, n in sorted(todo.items())],
    )


def _lanes_of(tx: Tx, job: int, found: Sequence[FoundRow], phases: dict[int, str]) -> dict[tuple[int, str, str], int]:
    """(chunk index, phase, origin) -> lane. New ones are made in the order of hosts: two makers cannot deadlock."""
    chunks = _work_chunks(tx, job)
    wanted = {(item.chunk_index, phases[finder], item.origin): item for finder, _, _, item in found}
    by_host = sorted(wanted.items(), key=lambda pair: (pair[1].host, pair[0]))
    return {key: lane_of(tx, chunks[key[0]], key[1], item) for key, item in by_host}


def ruled(item: Found, rules: ExclusionRules) -> Found:
    """The same, left out where an exclusion says so."""
    rule = None if item.disposition else rules.rule_for(item.path)
    return item if rule is None else msgspec.structs.replace(item, disposition=EXCLUDED, rule=rule)


def _insert_names(tx: Tx, job: int, found: Sequence[Found]) -> None:
    if found:
        tx.many(
            "INSERT INTO named (target, name, params) VALUES ((SELECT id FROM target WHERE job = ? AND key = ?), ?, ?)",
            [(job, item.key, item.name or None, item.params or None) for item in found],
        )


def _target_row(job: int, lane: int, finder: int, no: int, parent: int | None, item: Found) -> tuple[object, ...]:
    skipped = bool(item.disposition)
    state = int(State.SKIPPED if skipped else State.READY)
    done = (finder, no) if skipped else (None, None)
    return (
        job, lane, item.key, item.path, item.type, item.depth, parent, item.rank, item.hops, state,
        item.disposition or None, None, item.rule or None, None, 1, 0, 0, 0, None, None, None, finder, no, *done,
        None, None,
    )  # fmt: skip


def _work_chunks(tx: Tx, job: int) -> dict[int, int]:
    return dict(tx.rows("SELECT idx, id FROM chunk WHERE job = ? AND kind = 'work'", (job,)))


def lane_of(tx: Tx, chunk: int, phase: str, item: Found) -> int:
    """The lane of (chunk, phase, origin), made with its host row where it is new."""
    key = (chunk, phase, item.origin)
    known = tx.known_lane(key)
    if known is not None:
        return known[0]
    select = "SELECT id, host FROM lane WHERE chunk = ? AND phase = ? AND origin = ?"
    row = one(tx, select, key)
    if row is None:
        tx.run(
            "INSERT INTO host (key, busy, next_at, hold_until, set_at) VALUES (?, 0, 0, 0, 0) "
            "ON CONFLICT (key) DO NOTHING",
            (item.host,),
        )
        tx.run(
            "INSERT INTO lane (chunk, phase, host, origin, todo, held, due) "
            "SELECT ?, ?, id, ?, 0, 0, ? FROM host WHERE key = ? ON CONFLICT (chunk, phase, origin) DO NOTHING",
            (chunk, phase, item.origin, AT_ONCE, item.host),
        )
        row = one(tx, select, key)
    assert row is not None
    tx.lanes[key] = (row[0], row[1])
    return int(row[0])


def insert_external(tx: Tx, job: int, links: Sequence[tuple[int, int, int, External]]) -> None:
    rows = sorted(((job, item.key, item.url, target, chunk, no) for chunk, no, target, item in links), key=_by_key)
    if rows:
        tx.many("INSERT INTO external_link VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (job, key) DO NOTHING", rows)


def _by_key(row: tuple[int, bytes, str, int, int, int]) -> bytes:
    return row[1]
