"""The rows of a job as they were at a commit vector: what carries a later commit is taken out or put back.

Part of a rollback's transaction. Targets found since are dropped with all that hangs on them; others stand again as
their oldest before-image beyond the vector says, or as their attempts up to it do. Then nothing carries an undone
commit any more. It reads a slice of rows at a time: memory does not grow with what is undone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from holdfast.ledger.books import write_tallies
from holdfast.ledger.reads.as_of import vector
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.due_time import AT_ONCE
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT, IMAGE, IMAGED, discount, reason_of, recount
from holdfast.model.edit import SLICE
from holdfast.model.states import STATES_OF, State, wire_status

NOBODYS = 0  # no job has this id
PENDING = STATES_OF["pending"]
_FOUND_SINCE = "NOT EXISTS (SELECT 1 FROM v WHERE v.chunk = {0}.found_chunk AND v.no >= {0}.found_no)"


class Reverted(NamedTuple):
    """How many targets are pending again, are gone, are settled again; how many bodies and files no row refers to."""

    requeues: int
    drops: int
    restores: int
    bodies: int


class _Attempt(NamedTuple):
    chunk: int
    no: int
    generation: int
    outcome: str
    refunded: int


class _Then(NamedTuple):
    """A target's columns at the vector; its attempts and deaths are those of that generation."""

    state: int
    disposition: str | None
    code: str | None
    rule: str | None
    because: str | None
    gen: int
    attempts: int
    deaths: int
    not_before: int | None
    done_chunk: int | None
    done_no: int | None
    last_chunk: int | None
    last_no: int | None


def revert(tx: Tx, job: int, control: int, commits: Mapping[str, int]) -> Reverted:
    """`control` is the chunk whose tallies take the differences. No worker may hold a target of the job."""
    [(newest,)] = tx.rows("SELECT coalesce(max(id), 0) FROM target")
    drops = _drop_found(tx, job, control, commits)
    _spend_ids(tx, newest)
    requeues = restores = 0
    for targets in _touched(tx, commits):
        put_back, settled = _restore(tx, job, control, commits, targets)
        requeues, restores = requeues + put_back, restores + settled
    return Reverted(requeues, drops, restores, _forget(tx, job, commits))


def _drop_found(tx: Tx, job: int, control: int, commits: Mapping[str, int]) -> int:
    """Targets that a later commit found, by id. Attempts and results of theirs go with the later commits."""
    table, numbers = vector(commits)
    sql = (
        f"{table} SELECT {IMAGED} FROM target t WHERE +t.job = ? AND t.id > ? AND {_FOUND_SINCE.format('t')} "
        "ORDER BY t.id LIMIT ?"
    )
    after, dropped = 0, 0
    while rows := tx.rows(sql, (*numbers, job, after, SLICE)):
        lanes: Counter[int] = Counter()
        for row in rows:
            discount(tx, control, row)
            lanes[row[1]] -= row[3] in PENDING
        write_tallies(tx)
        _move_lanes(tx, lanes)
        for part in _parts([row[0] for row in rows]):
            for name, column in (("named", "target"), ("label", "target"), ("target", "id")):
                tx.run(f"DELETE FROM {name} WHERE {column} IN ({marks(part)})", part)
        after, dropped = rows[-1][0], dropped + len(rows)
    return dropped


def _spend_ids(tx: Tx, newest: int) -> None:
    """An id is given once. SQLite continues after the largest id in the table, so that row stays, without a job."""
    row = one(tx, "SELECT max(id) FROM target")
    if row is None or (row[0] or 0) < newest:
        tx.run(
            "INSERT INTO target (id, job, lane, key, path, type, depth, rank, hops, state, gen, attempts, deaths, "
            "alone, found_chunk, found_no, done_chunk, done_no) VALUES (?, ?, 0, ?, '', '', 0, 0, 0, ?, 1, 0, 0, 0, "
            "0, 0, 0, 0) ON CONFLICT (job, key) DO UPDATE SET id = excluded.id",
            (newest, NOBODYS, b"", int(State.CANCELLED)),
        )


def _touched(tx: Tx, commits: Mapping[str, int]) -> Iterator[list[int]]:
    """Targets that a verb overwrote or an attempt ended on since, some of them more than once."""
    table, numbers = vector(commits)
    after = 0
    overwritten = (
        f"{table} SELECT DISTINCT u.target FROM undo u JOIN v ON v.chunk = u.chunk AND u.no > v.no WHERE u.target > ? "
        "ORDER BY u.target LIMIT ?"
    )
    while rows := tx.rows(overwritten, (*numbers, after, IDS_PER_STATEMENT)):
        yield [target for (target,) in rows]
        after = rows[-1][0]
    for chunk, upto in commits.items():
        place = (upto + 1, 0)
        tried = "SELECT no, target FROM attempt WHERE chunk = ? AND (no, target) > (?, ?) ORDER BY no, target LIMIT ?"
        while rows := tx.rows(tried, (int(chunk), *place, IDS_PER_STATEMENT)):
            yield [target for _, target in rows]
            place = rows[-1]


def _restore(tx: Tx, job: int, control: int, commits: Mapping[str, int], targets: Sequence[int]) -> tuple[int, int]:
    """How many of them are pending again, and how many settled again. Restored twice, a target stays as it is.

    The dropped target with the largest id belongs to no job by now, and stays so.
    """
    ids = padded(sorted(set(targets)))
    found = f"SELECT {IMAGED} FROM target t WHERE t.id IN ({marks(ids)}) AND +t.job = ? ORDER BY t.id"
    rows = tx.rows(found, [*ids, job])
    images = _images(tx, commits, ids, {row[0]: row[3:] for row in rows})
    attempts = _attempts(tx, commits, ids)
    requeued = settled = 0
    lanes: Counter[int] = Counter()
    changes: list[Row] = []
    for row in rows:
        then = _then(images.get(row[0], row[3:]), attempts[row[0]], commits)
        status = wire_status(then.state)
        recount(tx, control, row, status, reason_of(status, then.disposition, then.code))
        requeued += row[-1] is not None and then.done_no is None
        settled += then.done_no is not None and (then.done_chunk, then.done_no) != row[-2:]
        lanes[row[1]] += (then.state in PENDING) - (row[3] in PENDING)
        changes.append((*then, row[0]))
    write_tallies(tx)
    columns = ", ".join(f"{name} = ?" for name in _Then._fields)
    tx.many(f"UPDATE target SET {columns}, alone = 0, held_epoch = NULL, tried_at = NULL WHERE id = ?", changes)
    _move_lanes(tx, lanes)
    return requeued, settled


def _images(tx: Tx, commits: Mapping[str, int], ids: list[Any], now: Mapping[int, Row]) -> dict[int, Row]:
    """The oldest before-image beyond the vector, of those that have one: as columns of IMAGE.

    A column that an image of an earlier version lacks is as it is `now`.
    Clocks go back and chunks count apart, so neither tells the order. The image that had been settled by the vector is
    the oldest, since what overwrote it took that away; without one, those of the least generation are alike here.
    """
    rows = tx.rows(f"SELECT target, before, chunk, no FROM undo WHERE target IN ({marks(ids)})", ids)
    found: dict[int, list[Row]] = defaultdict(list)
    for target, before, chunk, no in rows:
        if target in now and no > commits.get(str(chunk), 0):
            image = msgspec.json.decode(bytes(before))
            found[target].append(tuple(image.get(name, value) for name, value in zip(IMAGE, now[target], strict=True)))
    return {
        target: min(images, key=lambda image: (not _was_settled(image, commits), image[5]))
        for target, images in found.items()
    }


def _was_settled(image: Row, commits: Mapping[str, int]) -> bool:
    done_chunk, done_no = image[-2:]
    return done_no is not None and done_no <= commits.get(str(done_chunk), 0)


def _attempts(tx: Tx, commits: Mapping[str, int], ids: list[Any]) -> dict[int, list[_Attempt]]:
    """Each target's attempts up to the vector, newest first, by the chain that its row points into."""
    found: dict[int, list[_Attempt]] = defaultdict(list)
    rows = tx.rows(
        "WITH RECURSIVE chain (target, chunk, no) AS (SELECT t.id, t.last_chunk, t.last_no FROM target t "
        f"WHERE t.id IN ({marks(ids)}) AND t.last_no IS NOT NULL UNION "  # not ALL: a circle ends
        "SELECT a.target, a.prev_chunk, a.prev_no FROM chain k JOIN attempt a ON a.chunk = k.chunk AND a.no = k.no "
        "AND a.target = k.target WHERE a.prev_no IS NOT NULL) "
        "SELECT k.target, a.chunk, a.no, a.gen, a.outcome, a.refunded FROM chain k JOIN attempt a "
        "ON a.chunk = k.chunk AND a.no = k.no AND a.target = k.target ORDER BY k.target, a.no DESC",
        ids,
    )
    for target, *rest in rows:
        attempt = _Attempt(*rest)
        if attempt.no <= commits.get(str(attempt.chunk), 0):
            found[target].append(attempt)
    return found


def _then(image: Row, kept: list[_Attempt], commits: Mapping[str, int]) -> _Then:
    """Settled at the vector: as it was. Else pending, whatever it waited for, with the attempts that it had spent."""
    last = (kept[0].chunk, kept[0].no) if kept else (None, None)
    generation = image[5]
    if _was_settled(image, commits):
        return _Then(*image, *last)
    spent = [attempt for attempt in kept if attempt.generation == generation and not attempt.refunded]
    is_suspect = bool(kept) and (kept[0].generation, kept[0].outcome) == (generation, "lost")
    return _Then(
        int(State.SOLO if is_suspect else State.READY), None, None, None, None, generation, len(spent),
        sum(attempt.outcome == "lost" for attempt in spent), None, None, None, *last,
    )  # fmt: skip


def _move_lanes(tx: Tx, lanes: Counter[int]) -> None:
    """Lanes have so many more or fewer to do, and are looked at at once: what was suspect may be ready."""
    tx.many(
        "UPDATE lane SET todo = todo + ?, due = ? WHERE id = ?",
        [(n, AT_ONCE, lane) for lane, n in sorted(lanes.items())],
    )


def _forget(tx: Tx, job: int, commits: Mapping[str, int]) -> int:
    """Results, attempts, before-images and outgoing links of later commits; how many bodies and files there were."""
    bodies = 0
    for chunk, upto in commits.items():
        since = (int(chunk), upto)
        results = "(target, gen) IN (SELECT a.target, a.gen FROM attempt a WHERE a.chunk = ? AND a.no > ?)"
        bodies += tx.run(f"DELETE FROM body WHERE {results}", since)
        bodies += tx.run("DELETE FROM artifact WHERE chunk = ? AND no > ?", since)
        tx.run(f"DELETE FROM record WHERE {results}", since)
        tx.run("DELETE FROM attempt WHERE chunk = ? AND no > ?", since)
    table, numbers = vector(commits)
    tx.run(
        f"{table} DELETE FROM undo WHERE EXISTS (SELECT 1 FROM v WHERE v.chunk = undo.chunk AND v.no < undo.no)",
        numbers,
    )
    links = f"{table} DELETE FROM external_link WHERE job = ? AND {_FOUND_SINCE.format('external_link')}"
    tx.run(links, (*numbers, job))
    return bodies


def _parts(ids: list[int]) -> list[list[Any]]:
    return [padded(ids[start : start + IDS_PER_STATEMENT]) for start in range(0, len(ids), IDS_PER_STATEMENT)]
