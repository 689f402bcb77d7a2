"""Bookkeeping inside a transaction: entries, events, tallies, counts and checkpoints. Each law lives once, here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

import msgspec

from holdfast.errors import Corrupt
from holdfast.ledger.tx import Row, TallyKey, Tx, one
from holdfast.model.edit import read_walk
from holdfast.model.job import Counts
from holdfast.model.record import Checkpoint, Circumstances, StandingWalk
from holdfast.model.states import COUNTED

NO_DIGEST = b""


def add_entry(tx: Tx, chunk: int, no: int, epoch: int, verb: str, *, digest: bytes = NO_DIGEST, n: int = 0) -> None:
    """One numbered commit of a chunk."""
    tx.run("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", (chunk, no, epoch, verb, tx.wall(), digest, n))


def add_event(
    tx: Tx, chunk: int, thing: str, verb: str, source: str, target: str, *, actor: str, because: str = ""
) -> None:
    """One line of history, in the transaction of the move it tells; numbers of a chunk have no gaps."""
    row = one(tx, "UPDATE chunk SET seq = seq + 1 WHERE id = ? RETURNING seq", (chunk,))
    if row is None:
        raise Corrupt(f"chunk {chunk} is missing")
    tx.run(
        "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (chunk, row[0], tx.wall(), actor, thing, verb, source, target, because),
    )


def write_tallies(tx: Tx) -> None:
    """Store the counter deltas of this transaction. They are the settling chunk's own, so no foreign row is hot."""
    rows = [(*key, delta) for key, delta in sorted(tx.tallies.items()) if delta]
    if rows:
        tx.many(
            "INSERT INTO tally VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (chunk, type, status, reason) DO UPDATE SET n = tally.n + excluded.n",
            rows,
        )
    tx.tallies.clear()


def count(tx: Tx, chunk: int, type_: str, status: str, reason: str | None, delta: int) -> None:
    """Remember a counter delta for the end of this transaction."""
    key: TallyKey = (chunk, type_, status, reason or "")
    tx.tallies[key] += delta


def counts_of(tx: Tx, job: int) -> Counts:
    """The job's books from its tallies: never a scan of targets."""
    rows = tx.rows(
        "SELECT t.type, t.status, t.reason, sum(t.n) FROM tally t JOIN chunk c ON c.id = t.chunk "
        "WHERE c.job = ? GROUP BY t.type, t.status, t.reason",
        (job,),
    )
    return counts_from((type_, status, reason, int(n)) for type_, status, reason, n in rows)


def counts_from(rows: Iterable[Row]) -> Counts:
    total: Counter[str] = Counter()
    by_reason: dict[str, Counter[str]] = {"failed": Counter(), "skipped": Counter()}
    by_type: dict[str, Counter[str]] = {}
    for type_, status, reason, n in rows:
        if not (isinstance(type_, str) and isinstance(status, str) and isinstance(reason, str)):
            raise Corrupt("a counter of the ledger has a name that is not text: the ledger is damaged")
        total[status] += n
        by_type.setdefault(type_, Counter())[status] += n
        if status in by_reason:
            by_reason[status][reason] += n
    return Counts(
        discovered=sum(total.values()),
        failed_by={name: n for name, n in sorted(by_reason["failed"].items()) if n},
        skipped_by={name: n for name, n in sorted(by_reason["skipped"].items()) if n},
        by_type={type_: _seven(parts) for type_, parts in sorted(by_type.items())},
        **{status: total[status] for status in COUNTED},
    )


def _seven(parts: Counter[str]) -> dict[str, int]:
    return {"discovered": sum(parts.values()), **{status: parts[status] for status in COUNTED}}


def write_checkpoint(tx: Tx, job: int, reason: str) -> int:
    """A restore point as of this transaction: commit vector, counts, cursor, chained to its predecessor.

    Two workers may be due at once, so the caller has taken the job's turn before any row. One statement reads vector
    and counts, which makes them one snapshot; two statements could disagree about a commit.
    """
    write_tallies(tx)
    row = one(
        tx,
        "SELECT j.run, j.phase, j.gen, j.active_ms, p.cursor, p.done, p.trail, p.mode, p.opening "
        "FROM job j JOIN plan p ON p.job = j.id WHERE j.id = ?",
        (job,),
    )
    if row is None:
        raise Corrupt(f"job {job} has no plan row")
    run, phase, generation, active_ms, cursor = row[:5]
    commits, counts, walks = _as_of_now(tx, job)
    newest = one(tx, "SELECT number, checksum FROM checkpoint WHERE job = ? ORDER BY number DESC LIMIT 1", (job,))
    point = Checkpoint(
        job=job,
        number=1 if newest is None else newest[0] + 1,
        reason=reason,
        at=tx.wall(),
        run=run,
        phase=phase,
        generation=generation,
        cursor=cursor,
        commits=commits,
        counts=counts,
        active_ms=active_ms,
        previous=b"" if newest is None else bytes(newest[1]),
        beside=Circumstances(
            plan_done=bool(row[5]),
            trail=bytes(row[6] or b""),
            mode=row[7],
            opening=row[8],
            exclusions=_active_exclusions(tx, job),
            walks=walks,
        ),
    ).sealed()
    document = msgspec.json.encode(msgspec.structs.replace(point, checksum=b""))
    tx.run(
        "INSERT INTO checkpoint (job, number, at, doc, checksum) VALUES (?, ?, ?, ?, ?)",
        (job, point.number, point.at, document, point.checksum),
    )
    return point.number


def _active_exclusions(tx: Tx, job: int) -> tuple[int, ...]:
    rows = tx.rows("SELECT n FROM exclusion WHERE job = ? AND removed_at IS NULL ORDER BY n", (job,))
    return tuple(n for (n,) in rows)


def _as_of_now(tx: Tx, job: int) -> tuple[dict[str, int], Counts, tuple[StandingWalk, ...]]:
    """Commit numbers, counts, and the walks that stand: a walk belongs to the numbers that its slices have taken."""
    rows = tx.rows(
        "SELECT -w.id, w.verb, w.actor, '', 0, w.doc FROM walk w WHERE w.job = ? UNION ALL "
        "SELECT c.id, '', '', '', c.no, NULL FROM chunk c WHERE c.job = ? UNION ALL "
        "SELECT 0, t.type, t.status, t.reason, sum(t.n), NULL FROM tally t JOIN chunk c ON c.id = t.chunk "
        "WHERE c.job = ? GROUP BY t.type, t.status, t.reason",
        (job, job, job),
    )
    commits = {str(chunk): int(no) for chunk, _, _, _, no, _ in sorted(rows, key=_first) if chunk > 0}
    walks = tuple(
        StandingWalk(verb=verb, actor=actor, doc=read_walk(bytes(doc)))
        for number, verb, actor, _, _, doc in sorted(rows, key=_first, reverse=True)
        if number < 0
    )
    return commits, counts_from((*row[1:4], int(row[4])) for row in rows if not row[0]), walks


def _first(row: Row) -> int:
    return int(row[0])


def read_checkpoint(number: int, document: bytes, checksum: bytes) -> Checkpoint | None:
    """A stored checkpoint, or None where it is damaged: then its predecessor serves, since rows are the truth."""
    if sha256(document).digest() != checksum:
        return None
    try:
        bare = msgspec.json.decode(document, type=Checkpoint)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    point = msgspec.structs.replace(bare, checksum=checksum)
    return point if point.number == number else None


def newest_checkpoint(tx: Tx, job: int) -> Checkpoint | None:
    """The newest checkpoint that is whole and stands: none that a rollback went back behind."""
    before = None
    while True:
        sql = (
            "SELECT number, doc, checksum FROM checkpoint WHERE job = ? AND number < ? AND undone_by IS NULL "
            "ORDER BY number DESC LIMIT 1"
        )
        row = one(tx, sql, (job, before if before is not None else 1 << 62))
        if row is None:
            return None
        if before is not None and row[0] >= before:
            raise Corrupt(f"the checkpoints before {before} come in no order: the ledger is damaged")
        point = read_checkpoint(row[0], bytes(row[1]), bytes(row[2]))
        if point is not None:
            return point
        before = row[0]
