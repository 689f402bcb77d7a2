"""Reading the ledger: short snapshots, keyset pages, never a write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from holdfast.errors import BadParams, Corrupt, NotFound
from holdfast.ledger.books import counts_of, newest_checkpoint
from holdfast.ledger.jobs import JOB_COLUMNS, job_from, read_job
from holdfast.ledger.tx import Row, Tx, marks, one
from holdfast.model.job import Counts, Job
from holdfast.model.outcome import seal_of
from holdfast.model.record import Checkpoint, Event
from holdfast.model.states import STATES_OF, wire_status
from holdfast.model.target import AttemptRow, PageRow, TargetRow
from holdfast.policy.filters import reading

NAMES_SHOWN = 5
Condition = tuple[str, bool, tuple[str, ...]]


def find_job(tx: Tx, reference: str) -> Job:
    """By name, id, or a prefix of the id that only one job has."""
    row = one(tx, f"SELECT {JOB_COLUMNS} FROM job WHERE name = ? OR uid = ?", (reference, reference))
    if row is not None:
        return job_from(row)
    if reference.startswith("J-") and len(reference) > 2:
        rows = tx.rows(f"SELECT {JOB_COLUMNS} FROM job WHERE substr(uid, 1, ?) = ?", (len(reference), reference))
        if len(rows) == 1:
            return job_from(rows[0])
        if rows:
            ids = ", ".join(found.uid for found in map(job_from, rows))
            raise NotFound(f"{reference} is the beginning of several job ids: {ids}")
    raise NotFound(f"there is no job {reference!r}; {_what_there_is(tx, reference)}")


def _what_there_is(tx: Tx, reference: str) -> str:
    names = [name for (name,) in tx.rows("SELECT name FROM job ORDER BY id DESC LIMIT 1000")]
    if not names:
        return "this ledger has no jobs yet"
    near = get_close_matches(reference, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"this ledger has: {', '.join(names[:NAMES_SHOWN])}{more}"


def all_jobs(tx: Tx) -> list[Job]:
    return [job_from(row) for row in tx.rows(f"SELECT {JOB_COLUMNS} FROM job ORDER BY id")]


def books(tx: Tx, job: int) -> tuple[Job, Counts, Checkpoint | None]:
    return read_job(tx, job), counts_of(tx, job), newest_checkpoint(tx, job)


def plan(tx: Tx, job: int) -> tuple[int, bool]:
    row = one(tx, "SELECT cursor, done FROM plan WHERE job = ?", (job,))
    if row is None:
        raise NotFound(f"job {job} has no plan")
    return int(row[0]), bool(row[1])


# Filter key -> SQL column. `status` and globs are spelled out below; a number column may carry < or >.
COLUMNS = {
    "disposition": "t.disposition",
    "rule": "t.rule",
    "code": "t.code",
    "type": "t.type",
    "host": "h.key",
    "url": "l.origin || t.path",
    "depth": "t.depth",
    "attempts": "t.attempts",
}


# `+t.job` keeps the planner from the key index, by which it would sort the whole job anew for every page of rows.


def targets(tx: Tx, job: int, where: Sequence[Condition], after: int, limit: int) -> list[TargetRow]:
    clauses, values = [], []
    for condition in where:
        clause, parameters = _clause(condition)
        clauses.append(clause)
        values.extend(parameters)
    extra = "".join(f" AND {clause}" for clause in clauses)
    rows = tx.rows(
        "SELECT t.id, t.key, l.origin || t.path, t.type, t.state, t.disposition, t.rule, t.code, t.depth, t.parent, "
        "h.key, l.chunk, t.gen, t.attempts, t.not_before, t.because, f.at, d.at, b.sha256 "
        "FROM target t JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
        "LEFT JOIN entry f ON f.chunk = t.found_chunk AND f.no = t.found_no "
        "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no "
        "LEFT JOIN body b ON b.target = t.id AND b.gen = t.gen "
        f"WHERE +t.job = ? AND t.id > ?{extra} ORDER BY t.id LIMIT ?",
        (job, after, *values, limit),
    )
    return [_target_from(row) for row in _rising(rows, after)]


def _target_from(row: Row) -> TargetRow:
    return TargetRow(
        id=row[0], key=bytes(row[1]), url=row[2], type=row[3], status=wire_status(row[4]), disposition=row[5],
        rule=row[6], code=row[7], depth=row[8], parent=row[9], host=row[10], chunk=row[11], generation=row[12],
        attempts=row[13], not_before=row[14], because=row[15], found_at=row[16], settled_at=row[17],
        sha256=None if row[18] is None else bytes(row[18]),
    )  # fmt: skip


def _clause(condition: Condition) -> tuple[str, list[Any]]:
    """One condition as SQL; every value is a parameter, never part of the text."""
    column, wanted, values = condition
    parts: list[str] = []
    parameters: list[Any] = []
    for value in values:
        text, parameter = _comparison(column, value)
        parts.append(text)
        parameters.extend(parameter)
    joined = " OR ".join(parts)
    return (f"({joined})" if wanted else f"NOT coalesce(({joined}), {_FALSE})"), parameters


_FALSE = "1 = 0"


def _comparison(column: str, value: str) -> tuple[str, list[Any]]:
    if column == "status":
        states = [int(state) for state in STATES_OF.get(value, ())]
        return f"t.state IN ({marks(states)})", states
    if column not in COLUMNS:
        raise BadParams(f"targets cannot be filtered by {column!r}")
    name, meant = COLUMNS[column], reading(column, value)
    if meant.op == "*":
        escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
        return f"{name} LIKE ? ESCAPE '\\'", [escaped]
    return f"{name} {meant.op} ?", [meant.value]


def pages(tx: Tx, job: int, after: int, limit: int) -> list[PageRow]:
    """Succeeded pages in discovery order (by id), with their record and body reference."""
    rows = tx.rows(
        "SELECT t.id, l.origin || t.path, t.depth, pl.origin || p.path, r.doc, s.name, b.off, b.len, b.size, b.sha256, "
        "b.media, f.at, r.run, r.seal FROM target t JOIN lane l ON l.id = t.lane "
        "JOIN body b ON b.target = t.id AND b.gen = t.gen JOIN segment s ON s.id = b.segment "
        "JOIN record r ON r.target = t.id AND r.gen = t.gen AND r.n = 0 "
        "LEFT JOIN entry f ON f.chunk = t.found_chunk AND f.no = t.found_no "
        "LEFT JOIN target p ON p.id = t.parent LEFT JOIN lane pl ON pl.id = p.lane "
        "WHERE +t.job = ? AND t.id > ? AND t.state = 4 ORDER BY t.id LIMIT ?",
        (job, after, limit),
    )
    return [
        PageRow(
            target=row[0], url=row[1], depth=row[2], parent_url=row[3], record=_unsealed(row), segment=row[5],
            offset=row[6], length=row[7], size=row[8], sha256=bytes(row[9]), media=row[10], found_at=row[11] or 0,
            run=row[12],
        )
        for row in _rising(rows, after)
    ]  # fmt: skip


def _rising(rows: list[Row], after: int) -> Iterator[Row]:
    """Rows in the order that was asked for: in a damaged file they may come again, and a walk would never end."""
    before = after
    for row in rows:
        if row[0] <= before:
            raise Corrupt(f"the rows of targets after T-{before:x} come in no order: the ledger is damaged")
        before = row[0]
        yield row


def _unsealed(row: Row) -> bytes:
    document = bytes(row[4])
    if seal_of(document) != bytes(row[13]):
        raise Corrupt(f"the page record of T-{row[0]:x} is not what was stored", hint="holdfast verify names them all")
    return document


def history(tx: Tx, job: int, target: int | None) -> tuple[list[Event], list[AttemptRow]]:
    rows = tx.rows(
        "SELECT e.chunk, e.seq, e.at, e.actor, e.thing, e.verb, e.source, e.target, e.because FROM event e "
        "JOIN chunk c ON c.id = e.chunk WHERE c.job = ? ORDER BY e.at, e.chunk, e.seq",
        (job,),
    )
    names = ("chunk", "seq", "at", "actor", "thing", "verb", "source", "target", "because")
    events = [Event(**dict(zip(names, row, strict=True))) for row in rows]
    return events, [] if target is None else _attempts(tx, target)


def _attempts(tx: Tx, target: int) -> list[AttemptRow]:
    """A target's tries, oldest first: the chain of `prev` references from its last one."""
    link = one(tx, "SELECT last_chunk, last_no FROM target WHERE id = ?", (target,))
    found: list[AttemptRow] = []
    walked = set()
    while link is not None and link[0] is not None:
        row = one(
            tx,
            "SELECT n, worker, began_at, ended_at, outcome, code, status_code, message, bytes, prev_chunk, prev_no "
            "FROM attempt WHERE chunk = ? AND no = ? AND target = ?",
            (*link, target),
        )
        if row is None:
            break
        if link in walked:
            raise Corrupt(f"the attempts of T-{target:x} lead back to themselves: the ledger is damaged")
        walked.add(link)
        found.append(
            AttemptRow(
                target=target, n=row[0], worker=row[1], began_at=row[2], ended_at=row[3], outcome=row[4], code=row[5],
                status_code=row[6], message=row[7], bytes=row[8],
            )
        )  # fmt: skip
        link = row[9:11]
    return found[::-1]
