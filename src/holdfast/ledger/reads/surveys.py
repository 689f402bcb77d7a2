"""Looks across a whole job: how it splits, which links led out of it, its runs, what changed between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from holdfast.errors import BadParams, Corrupt
from holdfast.ledger.reads.targets import unsealed
from holdfast.ledger.reads.where import RESULT_GEN
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.undo import IDS_PER_STATEMENT
from holdfast.model.job import Counts
from holdfast.model.look import Change, RunLook
from holdfast.model.outcome import BEYOND_CAP
from holdfast.model.states import State, wire_status
from holdfast.policy.robots import PRODUCT

Split = list[tuple[str | None, str, int]]
# Counters serve these two; the others must count rows, in one pass over an index or the table.
_FROM_TALLIES = {"code": "failed", "disposition": None}
_GROUPS = {
    "host": ("h.key", "JOIN lane l ON l.id = g.lane JOIN host h ON h.id = l.host"),
    "chunk": ("l.chunk", "JOIN lane l ON l.id = g.lane"),
}


def breakdown(tx: Tx, job: int, by: str) -> Split:
    if by in _FROM_TALLIES:
        return _from_tallies(tx, job, _FROM_TALLIES[by])
    if by == "depth":
        rows = tx.rows("SELECT t.depth, t.state, count(*) FROM target t WHERE t.job = ? GROUP BY 1, 2", (job,))
        return _split([(str(depth), state, n) for depth, state, n in rows])
    if by not in _GROUPS:
        raise BadParams(f"a job has no breakdown by {by!r}")
    column, joined = _GROUPS[by]
    rows = tx.rows(
        f"SELECT {column}, g.state, sum(g.n) FROM (SELECT t.lane AS lane, t.state AS state, count(*) AS n "
        f"FROM target t WHERE t.job = ? GROUP BY t.lane, t.state) g {joined} GROUP BY {column}, g.state",
        (job,),
    )
    return _split([(f"C-{group:x}" if by == "chunk" else group, state, n) for group, state, n in rows])


def _from_tallies(tx: Tx, job: int, only: str | None) -> Split:
    """By the reason that a count is split by; what has none is a group of its own."""
    rows = tx.rows(
        "SELECT t.status, t.reason, sum(t.n) FROM tally t JOIN chunk c ON c.id = t.chunk WHERE c.job = ? "
        "GROUP BY t.status, t.reason",
        (job,),
    )
    counts: Counter[tuple[str, str]] = Counter()
    for status, reason, n in rows:
        named = status == only if only else status != "failed"
        counts[reason if named else "", status] += int(n)
    return sorted_split(counts)


def _split(rows: list[tuple[str, int, int]]) -> Split:
    counts: Counter[tuple[str, str]] = Counter()
    for group, state, n in rows:
        counts[group, wire_status(state)] += int(n)
    return sorted_split(counts)


def sorted_split(counts: Counter[tuple[str, str]]) -> Split:
    """Groups in the order of their names, numbers as numbers; without those that are empty."""
    rows = [(group or None, status, n) for (group, status), n in counts.items() if n]
    return sorted(rows, key=lambda row: (row[0] is None, _natural(row[0] or ""), row[1]))


def _natural(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdigit() else (-1, text)


def open_chunks(tx: Tx, job: int) -> list[tuple[int, int]]:
    """By the lanes' own counters."""
    rows = tx.rows(
        "SELECT c.id, sum(l.todo + l.held) FROM chunk c JOIN lane l ON l.chunk = c.id WHERE c.job = ? "
        "GROUP BY c.id ORDER BY c.id",
        (job,),
    )
    return [(chunk, int(n)) for chunk, n in rows]


def chunk_names(tx: Tx, job: int) -> dict[int, str]:
    return dict(tx.rows("SELECT id, name FROM chunk WHERE job = ? AND kind = 'work' ORDER BY idx", (job,)))


def link_out(tx: Tx, job: int, key: bytes) -> int | None:
    row = one(tx, "SELECT target FROM external_link WHERE job = ? AND key = ?", (job, key))
    return None if row is None else row[0]


def cut_short(tx: Tx, job: int, limit: int) -> list[tuple[int, bytes]]:
    """By the mark that such a page leaves in its record: a quote inside a text is escaped, so nothing else looks so."""
    rows = tx.rows(
        f"SELECT r.target, r.doc, r.seal FROM target t JOIN record r ON r.target = t.id AND r.gen = {RESULT_GEN} "
        f"WHERE +t.job = ? AND t.state = 4 AND {tx.contains('r.doc')} ORDER BY t.id LIMIT ?",
        (job, BEYOND_CAP, limit),
    )
    return [(target, unsealed(target, doc, seal)) for target, doc, seal in rows]


def robots_text(tx: Tx, origin: str) -> bytes | None:
    row = one(tx, "SELECT body FROM robots WHERE origin = ? AND agent = ? AND status > 0", (origin, PRODUCT))
    return None if row is None else bytes(row[0])


def runs(tx: Tx, job: int) -> list[RunLook]:
    names = ("n", "mode", "trigger", "status", "started_at", "ended_at", "stop_reason", "health")
    rows = tx.rows(f"SELECT {', '.join(names)}, doc FROM run WHERE job = ? ORDER BY n", (job,))
    return [RunLook(**dict(zip(names, row[:-1], strict=True)), counts=_books_then(job, row)) for row in rows]


def _books_then(job: int, row: Row) -> Counts | None:
    """Runs that ended under an earlier version have none."""
    try:
        return None if row[-1] is None else msgspec.json.decode(bytes(row[-1]), type=Counts)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"the books of run R-{row[0]} of job {job} cannot be read: {error}") from error


def changes(
    tx: Tx, job: int, first: RunLook, second: RunLook, after: int, limit: int
) -> tuple[list[Change], int | None]:
    """One slice of the job's targets, each with the generation whose record stood at the end of either run.

    What later runs did to them changes nothing: what they overwrote is kept beside them.
    """
    newest = "(SELECT max(r.gen) FROM record r WHERE r.target = t.id AND r.n = 0 AND r.run <= ?)"
    rows = tx.rows(
        f"SELECT t.id, l.origin || t.path, {newest}, {newest}, t.gen, t.state, coalesce(t.because, t.code), d.at "
        "FROM target t JOIN lane l ON l.id = t.lane "
        "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no "
        "WHERE +t.job = ? AND t.id > ? ORDER BY t.id LIMIT ?",
        (first.n, second.n, job, after, limit),
    )
    was_gone, is_gone = _gone(tx, rows, 2, first), _gone(tx, rows, 3, second)
    kinds = [(row, _kind(row, was_gone, is_gone)) for row in rows]
    hashes = _hashes(tx, [(row[0], gen) for row, kind in kinds if kind for gen in row[2:4] if gen is not None])
    found = [_change(row, kind, hashes, is_gone) for row, kind in kinds if kind]
    return [change for change in found if change is not None], rows[-1][0] if len(rows) == limit else None


def _gone(tx: Tx, rows: list[Row], place: int, run: RunLook) -> dict[int, str | None]:
    """Targets that had failed or were skipped at the end of the run, after an earlier result; with the reason.

    `place`: where in a row of `changes` the generation of that result stands. What a target became later is overwritten
    by how it stood then.
    """
    had = [row for row in rows if row[place] is not None]
    younger = [row[0] for row in had if run.ended_at is not None and not _by_the_end(row[7], run)]
    then = _overwritten(tx, younger, run)
    found: dict[int, str | None] = {}
    for row in had:
        gen, state, because, at = then.get(row[0], row[4:])
        if gen > row[place] and state in (State.FAILED, State.SKIPPED) and _by_the_end(at, run):
            found[row[0]] = because
    return found


def _by_the_end(at: int | None, run: RunLook) -> bool:
    return at is not None and (run.ended_at is None or at <= run.ended_at)


def _overwritten(tx: Tx, targets: list[int], run: RunLook) -> dict[int, tuple[Any, ...]]:
    """How targets stood at the end of the run that failed or were skipped by then, and were put back since.

    Generation, state, reason and when it was settled, as of a row of `changes`.
    """
    found: dict[int, tuple[Any, ...]] = {}
    for start in range(0, len(targets), IDS_PER_STATEMENT):
        part = padded(targets[start : start + IDS_PER_STATEMENT])
        rows = tx.rows(
            "SELECT u.target, u.before, d.at FROM undo u JOIN entry e ON e.chunk = u.chunk AND e.no = u.no "
            "JOIN entry d ON d.chunk = u.done_chunk AND d.no = u.done_no "
            f"WHERE u.target IN ({marks(part)}) AND u.state IN (5, 6) AND e.at >= ? AND d.at <= ?",
            (*part, run.ended_at, run.ended_at),
        )
        for target, before, at in rows:
            image = msgspec.json.decode(bytes(before))
            found[target] = (image["gen"], image["state"], image["because"] or image["code"], at)
    return found


def _hashes(tx: Tx, wanted: list[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
    targets = sorted({target for target, _ in wanted})
    rows = tx.rows(f"SELECT target, gen, sha256 FROM body WHERE target IN ({marks(targets)})", targets)
    return {(target, gen): bytes(digest) for target, gen, digest in rows}


def _kind(row: Row, was_gone: Container[int], is_gone: Container[int]) -> str | None:
    """Whether it was held at the end of either run decides; without a new result nothing can have come."""
    was_held = row[2] is not None and row[0] not in was_gone
    is_held = row[3] is not None and row[0] not in is_gone
    if was_held and not is_held:
        return "removed"
    if not is_held or row[2] == row[3]:
        return None
    return "changed" if was_held else "added"


def _change(
    row: Row,
    kind: str,
    hashes: dict[tuple[int, int], bytes],
    is_gone: Mapping[int, str | None],
) -> Change | None:
    """None: the new result has the bytes of the old one."""
    target, url = row[:2]
    before, after = (hashes.get((target, gen)) for gen in row[2:4])
    if kind == "removed":
        return Change(kind=kind, target=target, url=url, before=before, after=None, because=is_gone.get(target))
    if kind == "changed" and before == after:
        return None
    before = before if kind == "changed" else None
    return Change(kind=kind, target=target, url=url, before=before, after=after, because=None)
