"""Reading the ledger: short snapshots, keyset pages, never a write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.errors import Corrupt
from holdfast.ledger.reads.where import JOINED, RUN, Condition, clauses
from holdfast.ledger.tx import Row, Tx, one
from holdfast.model.outcome import GONE, seal_of
from holdfast.model.record import Event
from holdfast.model.states import State, wire_status
from holdfast.model.target import AttemptRow, PageRow, TargetRow

NAMES_SHOWN = 5


_TARGETS = (
    "SELECT t.id, t.key, l.origin || t.path, t.type, t.state, t.disposition, t.rule, t.code, t.depth, t.parent, "
    f"h.key, l.chunk, t.gen, t.attempts, t.not_before, t.because, f.at, d.at, b.sha256, n.name, b.size, {RUN}, m.word "
    f"FROM {JOINED} LEFT JOIN named n ON n.target = t.id"
)


# `+t.job` keeps the planner from the key index, by which it would sort the whole job anew for every page of rows.


def targets(tx: Tx, job: int, where: Sequence[Condition], after: int, limit: int) -> list[TargetRow]:
    extra, values = clauses(where, tx.wall())
    rows = tx.rows(
        f"{_TARGETS} WHERE +t.job = ? AND t.id > ?{extra} ORDER BY t.id LIMIT ?",
        (job, after, *values, limit),
    )
    return [_target_from(row) for row in _rising(rows, after)]


def find_target(tx: Tx, job: int, key: bytes) -> TargetRow | None:
    row = one(tx, f"{_TARGETS} WHERE t.job = ? AND t.key = ?", (job, key))
    return None if row is None else _target_from(row)


def _target_from(row: Row) -> TargetRow:
    return TargetRow(
        id=row[0], key=bytes(row[1]), url=row[2], type=row[3], status=wire_status(row[4]), disposition=row[5],
        rule=row[6], code=row[7], depth=row[8], parent=row[9], host=row[10], chunk=row[11], generation=row[12],
        attempts=row[13], not_before=row[14], because=row[15], found_at=row[16], settled_at=row[17],
        sha256=None if row[18] is None else bytes(row[18]), name=row[19], size=row[20], run=row[21], label=row[22],
    )  # fmt: skip


RESULT_COLUMNS = (
    "t.id, l.origin || t.path, t.depth, pl.origin || p.path, r.doc, s.name, b.off, b.len, b.size, b.sha256, "
    "b.media, f.at, r.run, r.seal, r.n, r.kind, t.key, t.type, i.name, "
    "(SELECT x.path FROM artifact x WHERE x.target = r.target AND x.gen = r.gen AND x.n = 0)"
)


_N = 14  # where r.n stands among them


_RESULTS_OF = (
    "JOIN record r ON r.target = t.id AND r.gen = (SELECT max(g.gen) FROM record g WHERE g.target = t.id) "
    "JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
    "LEFT JOIN body b ON b.target = t.id AND b.gen = r.gen LEFT JOIN segment s ON s.id = b.segment "
    "LEFT JOIN entry f ON f.chunk = t.found_chunk AND f.no = t.found_no "
    "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no LEFT JOIN label m ON m.target = t.id "
    "LEFT JOIN target p ON p.id = t.parent LEFT JOIN lane pl ON pl.id = p.lane LEFT JOIN named i ON i.target = t.id "
)


# What is fetched again is served as it was until it is settled anew, and what could not be had this time as it last
# was. Not what was skipped, what the site said is gone (404, 410) since, or whose bytes are lost.
LAST_GOOD = (
    "EXISTS (SELECT 1 FROM attempt a WHERE a.chunk = r.chunk AND a.no = r.no AND a.target = t.id "
    "AND a.outcome = 'succeeded') "
    "AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.chunk = t.done_chunk AND a.no = t.done_no AND a.target = t.id "
    "AND a.status_code IN (404, 410)) "
    "AND NOT EXISTS (SELECT 1 FROM undo u JOIN attempt a ON a.chunk = u.done_chunk AND a.no = u.done_no "
    "AND a.target = u.target WHERE u.target = t.id "
    "AND ((a.gen > r.gen AND a.status_code IN (404, 410)) OR (a.gen >= r.gen AND u.verb = 'mend')))"
)


SERVED = f"(t.state = 4 OR (t.state <> 5 AND t.gen > 1 AND {LAST_GOOD}))"


assert (State.SUCCEEDED, State.SKIPPED, GONE) == (4, 5, (404, 410))


def pages(tx: Tx, job: int, after: int, limit: int) -> list[PageRow]:
    """Pages in discovery order (by id), with their record and body reference."""
    rows = tx.rows(
        f"SELECT {RESULT_COLUMNS} FROM target t {_RESULTS_OF}"
        f"WHERE +t.job = ? AND t.id > ? AND {SERVED} AND r.n = 0 AND b.target IS NOT NULL ORDER BY t.id LIMIT ?",
        (job, after, limit),
    )
    return [result_from(row) for row in _rising(rows, after)]


def results(tx: Tx, job: int, where: Sequence[Condition], after: tuple[int, int], limit: int) -> list[PageRow]:
    """Records of succeeded targets in discovery order, those behind (target, n)."""
    extra, values = clauses(where, tx.wall())
    rows = tx.rows(
        f"SELECT {RESULT_COLUMNS} FROM target t {_RESULTS_OF}"
        f"WHERE +t.job = ? AND t.id >= ? AND (t.id > ? OR r.n > ?) AND {SERVED}{extra} "
        "ORDER BY t.id, r.n LIMIT ?",
        (job, after[0], *after, *values, limit),
    )
    return [result_from(row) for row in _rising(rows, *after, place=_N)]


def result_from(row: Row) -> PageRow:
    return PageRow(
        target=row[0], url=row[1], depth=row[2], parent_url=row[3], record=unsealed(row[0], row[4], row[13]),
        segment=row[5] or "", offset=row[6] or 0, length=row[7] or 0, size=row[8] or 0, sha256=bytes(row[9] or b""),
        media=row[10] or "", found_at=row[11] or 0, run=row[12], n=row[14], kind=row[15], key=bytes(row[16]),
        type=row[17], name=row[18] or "", file=row[19] or "",
    )  # fmt: skip


def _rising(rows: list[Row], after: int, n: int = 0, place: int = 0) -> Iterator[Row]:
    """Rows in the order that was asked for: in a damaged file they may come again, and a walk would never end."""
    before = after, n if place else after
    for row in rows:
        here = row[0], row[place]
        if here <= before:
            raise Corrupt(f"the rows of targets after T-{before[0]:x} come in no order: the ledger is damaged")
        before = here
        yield row


def unsealed(target: int, doc: bytes, seal: bytes) -> bytes:
    """A stored record; Corrupt where it is not the one that was sealed."""
    document = bytes(doc)
    if seal_of(document) != bytes(seal):
        raise Corrupt(f"the page record of T-{target:x} is not what was stored", hint="holdfast verify names them all")
    return document


def history(tx: Tx, job: int, target: int | None) -> tuple[list[Event], list[AttemptRow]]:
    rows = tx.rows(
        "SELECT e.chunk, e.seq, e.at, e.actor, e.thing, e.verb, e.source, e.target, e.because FROM event e "
        "JOIN chunk c ON c.id = e.chunk WHERE c.job = ? ORDER BY e.at, e.chunk, e.seq",
        (job,),
    )
    names = ("chunk", "seq", "at", "actor", "thing", "verb", "source", "target", "because")
    events = [Event(**dict(zip(names, row, strict=True))) for row in rows]
    return events, [] if target is None else attempts(tx, target)


def attempts(tx: Tx, target: int) -> list[AttemptRow]:
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
