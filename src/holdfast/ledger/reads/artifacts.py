"""Reading which files targets have, and whether a file of some hash is here already. Never a write."""

from __future__ import annotations

from holdfast.ledger.reads.targets import SERVED
from holdfast.ledger.tx import Row, Tx
from holdfast.model.artifact import ArtifactRow

_COLUMNS = "t.job, a.target, a.gen, a.n, a.role, a.path, a.size, a.sha256, a.media, a.url"


def artifacts(tx: Tx, job: int, after: tuple[int, int], limit: int) -> list[ArtifactRow]:
    """Files of the results that are served, by (target, n). They belong to the generation of the record beside them."""
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM target t JOIN record r ON r.target = t.id AND r.n = 0 "
        "AND r.gen = (SELECT max(g.gen) FROM record g WHERE g.target = t.id) "
        "JOIN artifact a ON a.target = t.id AND a.gen = r.gen "
        f"WHERE +t.job = ? AND t.id >= ? AND (t.id > ? OR a.n > ?) AND {SERVED} ORDER BY t.id, a.n LIMIT ?",
        (job, after[0], *after, limit),
    )
    return [_from(row) for row in rows]


def with_hash(tx: Tx, sha256: bytes, job: int | None, limit: int) -> list[ArtifactRow]:
    """Every row that refers to bytes of this hash, of whichever generation: all of them are on the disk."""
    of_job, values = ("", ()) if job is None else (" AND t.job = ?", (job,))
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM artifact a JOIN target t ON t.id = a.target WHERE a.sha256 = ?{of_job} "
        "ORDER BY a.target, a.gen, a.n LIMIT ?",
        (sha256, *values, limit),
    )
    return [_from(row) for row in rows]


def _from(row: Row) -> ArtifactRow:
    return ArtifactRow(
        job=row[0], target=row[1], generation=row[2], n=row[3], role=row[4], path=row[5], size=row[6],
        sha256=bytes(row[7]), media=row[8], url=row[9],
    )  # fmt: skip
