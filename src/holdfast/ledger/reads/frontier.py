"""The frontier as people ask for it: what is pending, in which groups, and what comes next. Reads no settled target."""

from __future__ import annotations

from collections import Counter

from holdfast.errors import BadParams
from holdfast.ledger.tx import Row, Tx
from holdfast.model.look import HostWait, Upcoming
from holdfast.model.states import State

LANES_LOOKED_AT = 64
# Along the lanes and their small indexes: each of the three physical states of `pending` has its own.
_PENDING = (
    "FROM chunk c JOIN lane l ON l.chunk = c.id CROSS JOIN target t WHERE c.job = ? AND l.todo > 0 AND t.lane = l.id "
    "AND t.state = {state}"
)
_STATES = (int(State.READY), int(State.WAITING), int(State.SOLO))
_COLUMNS = (
    "t.id, l.origin || t.path, t.type, h.key, t.depth, t.parent, t.not_before, t.because, t.state, h.next_at, "
    "h.hold_until, t.rank"
)


def hosts_waiting(tx: Tx, job: int, host: str | None, limit: int) -> list[HostWait]:
    only, named = ("", ()) if host is None else ("AND h.key = ? ", (host,))
    rows = tx.rows(
        "SELECT h.key, sum(l.todo), sum(l.held), h.next_at, h.hold_until FROM chunk c JOIN lane l ON l.chunk = c.id "
        f"JOIN host h ON h.id = l.host WHERE c.job = ? {only}GROUP BY h.id, h.key, h.next_at, h.hold_until "
        "HAVING sum(l.todo) + sum(l.held) > 0 ORDER BY sum(l.todo) DESC, h.key LIMIT ?",
        (job, *named, limit),
    )
    return [
        HostWait(host=key, pending=int(todo), in_progress=int(held), next_at=next_at, hold_until=hold_until)
        for key, todo, held, next_at, hold_until in rows
    ]


def pending_by(tx: Tx, job: int, column: str, limit: int) -> list[tuple[str, int]]:
    if column == "depth":
        return _by_depth(tx, job)
    if column == "pattern":
        return _by_pattern(tx, job, limit)
    raise BadParams(f"pending targets have no groups by {column!r}")


def _by_depth(tx: Tx, job: int) -> list[tuple[str, int]]:
    counts: Counter[int] = Counter()
    for state in _STATES:
        sql = f"SELECT t.depth, count(*) {_PENDING.format(state=state)} GROUP BY t.depth"
        counts.update({int(depth): int(n) for depth, n in tx.rows(sql, (job,))})
    return [(str(depth), n) for depth, n in sorted(counts.items())]


def _by_pattern(tx: Tx, job: int, limit: int) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for state in _STATES:
        left = limit - counts.total()
        if left <= 0:
            break
        rows = tx.rows(f"SELECT l.origin, t.path {_PENDING.format(state=state)} LIMIT ?", (job, left))
        counts.update(pattern_of(origin, path) for origin, path in rows)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def pattern_of(origin: str, path: str) -> str:
    """`https://docs.x.dev/tags/*`: the first part of the path, as `exclude` would be told it."""
    first, slash, _ = path.lstrip("/").partition("?")[0].partition("/")
    return f"{origin}/{first}/*" if slash else f"{origin}/{first}"


def upcoming(tx: Tx, job: int, limit: int) -> list[Upcoming]:
    """The first of each of the lanes that are due first, merged: hosts that may be asked before those that may not."""
    lanes = tx.rows(
        "SELECT l.id FROM chunk c JOIN lane l ON l.chunk = c.id WHERE c.job = ? AND l.todo > 0 ORDER BY l.due, l.id "
        "LIMIT ?",
        (job, LANES_LOOKED_AT),
    )
    rows: list[Row] = []
    for (lane,) in lanes:
        for state, order in zip(_STATES, ("t.rank, t.id", "t.not_before, t.id", "t.id"), strict=True):
            rows += tx.rows(
                f"SELECT {_COLUMNS} FROM target t JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
                f"WHERE t.lane = ? AND t.state = {state} ORDER BY {order} LIMIT ?",
                (lane, limit),
            )
    rows.sort(key=_by_turn)
    return [_upcoming(row) for row in rows[:limit]]


def _by_turn(row: Row) -> tuple[int, int, int, int, int]:
    """Suspects last; what waits by its time; then the order of claims within a host."""
    return int(row[8] == State.SOLO), row[6] or 0, row[10], row[11], row[0]


def _upcoming(row: Row) -> Upcoming:
    return Upcoming(
        id=row[0], url=row[1], type=row[2], host=row[3], depth=row[4], parent=row[5], not_before=row[6],
        because=row[7], is_suspect=row[8] == State.SOLO, next_at=row[9], hold_until=row[10],
    )  # fmt: skip
