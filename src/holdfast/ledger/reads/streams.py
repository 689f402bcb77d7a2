"""Results in the order of their commits, and the bookmarks of readers.

Chunk by chunk: within a chunk commits are numbered in the order in which they became visible, on both engines, so a
reader that has seen commit n of a chunk has seen all before it. Between chunks there is no order.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.ledger.reads.targets import RESULT_COLUMNS, result_from
from holdfast.ledger.reads.where import Condition, clauses
from holdfast.ledger.tx import Tx, one
from holdfast.model.bookmark import Bookmark, EndedTarget, Fresh, read_bookmark

_ENDED_NAMES = (
    "chunk", "no", "target", "url", "outcome", "disposition", "code", "status_code", "message", "attempt", "at",
)  # fmt: skip
_ENDED = (
    "SELECT a.chunk, a.no, a.target, l.origin || t.path, CASE a.outcome WHEN 'lost' THEN 'failed' ELSE a.outcome END, "
    "CASE WHEN t.done_chunk = a.chunk AND t.done_no = a.no THEN t.disposition END, "
    "a.code, a.status_code, a.message, a.n, a.ended_at "
    "FROM attempt a JOIN target t ON t.id = a.target JOIN lane l ON l.id = t.lane "
    "WHERE a.chunk = ? AND a.no > ? AND a.no <= ? AND (a.outcome IN ('succeeded', 'skipped', 'failed') "
    "OR (a.outcome = 'lost' AND a.code = 'poison')) "  # its last death was its end
    "ORDER BY a.no, a.target"
)
COMMITS_AT_ONCE = 64  # of one chunk; each has at most as many results as a settle


def fresh(tx: Tx, job: int, mark: Bookmark, where: Sequence[Condition], limit: int) -> tuple[list[Fresh], Bookmark]:
    """Results behind the bookmark, and where one stands after them; both empty-handed when all is read.

    Whole commits, so there may be more than `limit`; the chunks that are read least come first.
    """
    heads = tx.rows("SELECT id, no FROM chunk WHERE job = ? AND kind = 'work'", (job,))
    unread = [(chunk, no) for chunk, no in heads if no > mark.commits.get(chunk, 0)]
    found: list[Fresh] = []
    commits = dict(mark.commits)
    for chunk, no in sorted(unread, key=lambda head: mark.commits.get(head[0], 0)):
        if len(found) >= limit:
            break
        read = mark.commits.get(chunk, 0)
        upto = min(no, read + COMMITS_AT_ONCE)
        rows = _of_commits(tx, chunk, read, upto, where)
        skip = mark.rows if chunk == mark.inside else 0
        found += [each for each in rows if each.no > read + 1 or each.place >= skip]
        commits[chunk] = upto
    return found, Bookmark(commits)


def _of_commits(tx: Tx, chunk: int, after: int, upto: int, where: Sequence[Condition]) -> list[Fresh]:
    """Through the attempts of these commits, which lie together. A result of an earlier generation counts too.

    Places are counted before the filter: a bookmark means the same under another one, or when a label has changed.
    """
    extra, values = clauses(where, tx.wall())
    rows = tx.rows(
        f"SELECT {RESULT_COLUMNS}, a.no, a.place FROM (SELECT o.no, k.target, k.gen, k.n, "
        "row_number() OVER (PARTITION BY o.no ORDER BY k.target, k.n) - 1 AS place FROM attempt o "
        "JOIN record k ON k.target = o.target AND k.gen = o.gen AND k.chunk = o.chunk AND k.no = o.no "
        "WHERE o.chunk = ? AND o.no > ? AND o.no <= ? AND o.outcome = 'succeeded') a "
        "JOIN target t ON t.id = a.target JOIN record r ON r.target = a.target AND r.gen = a.gen AND r.n = a.n "
        "JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
        "LEFT JOIN body b ON b.target = r.target AND b.gen = r.gen LEFT JOIN segment s ON s.id = b.segment "
        "LEFT JOIN entry f ON f.chunk = t.found_chunk AND f.no = t.found_no "
        "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no LEFT JOIN label m ON m.target = t.id "
        "LEFT JOIN target p ON p.id = t.parent LEFT JOIN lane pl ON pl.id = p.lane "
        "LEFT JOIN named i ON i.target = t.id "
        f"WHERE 1 = 1{extra} ORDER BY a.no, a.place",
        (chunk, after, upto, *values),
    )
    return [Fresh(chunk, row[-2], row[-1], result_from(row)) for row in rows]


def ended(tx: Tx, job: int, mark: Bookmark, limit: int) -> tuple[list[EndedTarget], Bookmark]:
    """Tries that settled their target, behind the bookmark; whole commits, as in `fresh`."""
    heads = tx.rows("SELECT id, no FROM chunk WHERE job = ? AND kind = 'work' ORDER BY id", (job,))
    found: list[EndedTarget] = []
    commits = dict(mark.commits)
    for chunk, no in heads:
        read = mark.commits.get(chunk, 0)
        if no <= read or len(found) >= limit:
            continue
        commits[chunk] = min(no, read + COMMITS_AT_ONCE)
        rows = tx.rows(_ENDED, (chunk, read, commits[chunk]))
        found += [EndedTarget(**dict(zip(_ENDED_NAMES, row, strict=True))) for row in rows]
    return found, Bookmark(commits)


def everything(tx: Tx, job: int) -> Bookmark:
    """Behind the last commit of every chunk."""
    return Bookmark(dict(tx.rows("SELECT id, no FROM chunk WHERE job = ? AND kind = 'work' ORDER BY id", (job,))))


def bookmark(tx: Tx, job: int, consumer: str) -> Bookmark:
    row = one(tx, "SELECT cursor FROM consumer WHERE job = ? AND name = ?", (job, consumer))
    return Bookmark() if row is None else read_bookmark(bytes(row[0]))


def save_bookmark(tx: Tx, job: int, consumer: str, mark: Bookmark) -> Bookmark:
    """Keep the further of this one and what is there. No number of the job: what a reader read is not its history."""
    tx.run(
        "INSERT INTO consumer (job, name, cursor, at) VALUES (?, ?, ?, ?) ON CONFLICT (job, name) DO NOTHING",
        (job, consumer, Bookmark().encoded(), tx.wall()),
    )
    row = one(tx, f"SELECT cursor FROM consumer WHERE job = ? AND name = ? {tx.lock('consumer')}", (job, consumer))
    assert row is not None
    further = mark.behind(read_bookmark(bytes(row[0])))
    tx.run(
        "UPDATE consumer SET cursor = ?, at = ? WHERE job = ? AND name = ?",
        (further.encoded(), tx.wall(), job, consumer),
    )
    return further
