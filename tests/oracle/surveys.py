"""Looks across a whole job, in memory: the frontier, breakdowns, runs and what changed between two. Never a write."""

from __future__ import annotations

import math
from collections import Counter

from holdfast.errors import BadParams
from holdfast.ledger.reads.frontier import pattern_of
from holdfast.ledger.reads.surveys import Split, sorted_split
from holdfast.model.look import Change, HostWait, RunLook, Upcoming
from holdfast.model.outcome import BEYOND_CAP
from holdfast.model.states import State, wire_status
from holdfast.policy.robots import PRODUCT
from oracle.reads import result_generation
from oracle.state import HostRow, RunRow, Tables, TargetState

_PENDING = (State.READY, State.WAITING, State.SOLO)


def _targets(tables: Tables, job: int) -> list[TargetState]:
    return [row for row in tables.targets.values() if row.job == job]


def hosts_waiting(tables: Tables, job: int, host: str | None, limit: int) -> list[HostWait]:
    pending: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for row in _targets(tables, job):
        pending[row.found.host] += row.state in _PENDING
        held[row.found.host] += row.state == State.HELD
    found = []
    for key in (key for key in pending if pending[key] + held[key] and host in (None, key)):
        row_of_host = tables.hosts.get(key, HostRow())
        found.append(
            HostWait(
                host=key, pending=pending[key], in_progress=held[key], next_at=row_of_host.next_at,
                hold_until=row_of_host.hold_until,
            )
        )  # fmt: skip
    return sorted(found, key=lambda row: (-row.pending, row.host))[:limit]


def pending_by(tables: Tables, job: int, column: str, limit: int) -> list[tuple[str, int]]:
    rows = [row for row in _targets(tables, job) if row.state in _PENDING]
    if column == "depth":
        depths = Counter(row.found.depth for row in rows)
        return [(str(depth), n) for depth, n in sorted(depths.items())]
    if column == "pattern":
        patterns = Counter(pattern_of(row.found.origin, row.found.path) for row in rows[:limit])
        return sorted(patterns.items(), key=lambda item: (-item[1], item[0]))
    raise BadParams(f"pending targets have no groups by {column!r}")


def upcoming(tables: Tables, job: int, limit: int) -> list[Upcoming]:
    rows = [row for row in _targets(tables, job) if row.state in _PENDING]
    rows.sort(key=lambda row: _by_turn(tables, row))
    return [
        Upcoming(
            id=row.id, url=row.url, type=row.found.type, host=row.found.host, depth=row.found.depth, parent=row.parent,
            not_before=row.not_before, because=row.because, is_suspect=row.state == State.SOLO,
            next_at=_host(tables, row).next_at, hold_until=_host(tables, row).hold_until,
        )
        for row in rows[:limit]
    ]  # fmt: skip


def _by_turn(tables: Tables, row: TargetState) -> tuple[int, int, int, int, int]:
    hold = _host(tables, row).hold_until
    return int(row.state == State.SOLO), row.not_before or 0, hold, row.found.rank, row.id


def _host(tables: Tables, row: TargetState) -> HostRow:
    return tables.hosts.get(row.found.host, HostRow())


def breakdown(tables: Tables, job: int, by: str) -> Split:
    counts: Counter[tuple[str, str]] = Counter()
    for row in _targets(tables, job):
        counts[_group(row, by), wire_status(row.state)] += 1
    return sorted_split(counts)


def _group(row: TargetState, by: str) -> str:
    failed = row.state == State.FAILED
    values = {
        "host": row.found.host,
        "depth": str(row.found.depth),
        "chunk": f"C-{row.chunk:x}",
        "code": (row.code or "") if failed else "",
        "disposition": (row.disposition or "") if not failed else "",
    }
    if by not in values:
        raise BadParams(f"a job has no breakdown by {by!r}")
    return values[by]


def link_out(tables: Tables, job: int, key: bytes) -> int | None:
    return tables.external_from.get((job, key))


def cut_short(tables: Tables, job: int) -> list[tuple[int, bytes]]:
    done = {row.id: row for row in tables.targets.values() if row.job == job and row.state == State.SUCCEEDED}
    return [
        (target, record.doc)
        for (target, generation, _), record in sorted(tables.records.items(), key=lambda item: item[0])
        if target in done and result_generation(tables, done[target]) == generation and BEYOND_CAP in record.doc
    ]


def robots_text(tables: Tables, origin: str) -> bytes | None:
    row = tables.robots.get((origin, PRODUCT))
    return None if row is None or row.kept is None or row.kept.status <= 0 else row.kept.body


def chunk_names(tables: Tables, job: int) -> dict[int, str]:
    work = [chunk for chunk in tables.chunks.values() if chunk.job == job and chunk.kind == "work"]
    return {chunk.id: chunk.name for chunk in sorted(work, key=lambda chunk: chunk.index)}


def open_chunks(tables: Tables, job: int) -> list[tuple[int, int]]:
    found: Counter[int] = Counter()
    for row in _targets(tables, job):
        found[row.chunk] += row.state in (*_PENDING, State.HELD)
    return sorted(found.items())


def runs(tables: Tables, job: int) -> list[RunLook]:
    return [_run(n, row) for (owner, n), row in sorted(tables.runs.items(), key=lambda item: item[0]) if owner == job]


def _run(n: int, row: RunRow) -> RunLook:
    return RunLook(
        n=n, mode=row.mode, trigger=row.trigger, status=row.status, started_at=row.started_at, ended_at=row.ended_at,
        stop_reason=row.stop_reason, health=row.health, counts=row.counts,
    )  # fmt: skip


def changes(
    tables: Tables, job: int, first: RunLook, second: RunLook, after: int, limit: int
) -> tuple[list[Change], int | None]:
    rows = [row for row in _targets(tables, job) if row.id > after][:limit]
    found = [change for row in rows if (change := _change(tables, row, first, second)) is not None]
    return found, rows[-1].id if len(rows) == limit else None


def _change(tables: Tables, row: TargetState, first: RunLook, second: RunLook) -> Change | None:
    then, now = _newest(tables, row, first.n), _newest(tables, row, second.n)
    gone = _gone(tables, row, second, now)
    was_held, is_held = then is not None and _gone(tables, row, first, then) is None, now is not None and gone is None
    if was_held and gone is not None:
        because, held = gone.because or gone.code, _hash(tables, row, then)
        return Change(kind="removed", target=row.id, url=row.url, before=held, after=None, because=because)
    before, after = _hash(tables, row, then) if was_held else None, _hash(tables, row, now)
    if not is_held or then == now or (was_held and before == after):
        return None
    kind = "changed" if was_held else "added"
    return Change(kind=kind, target=row.id, url=row.url, before=before, after=after, because=None)


def _gone(tables: Tables, row: TargetState, run: RunLook, result: int | None) -> TargetState | None:
    """The target as it stood at the end of the run, where it had failed or was skipped by then, after that result."""
    end = math.inf if run.ended_at is None else run.ended_at
    overwritten = [
        each.before
        for (target, *commit), each in tables.undo.items()
        if target == row.id and tables.entries[commit[0], commit[1]].at >= end
    ]
    for then in (row, *reversed(overwritten)):
        if then.settled_at is not None and then.settled_at <= end:
            is_gone = then.state in (State.FAILED, State.SKIPPED) and result is not None and then.generation > result
            return then if is_gone else None
    return None


def _newest(tables: Tables, row: TargetState, run: int) -> int | None:
    made = [gen for (owner, gen, n), by in tables.record_runs.items() if owner == row.id and n == 0 and by <= run]
    return max(made, default=None)


def _hash(tables: Tables, row: TargetState, generation: int | None) -> bytes | None:
    body = None if generation is None else tables.bodies.get((row.id, generation))
    return None if body is None else body.sha256
