"""Whether stored values are still what was stored: keys belong to their URLs, records to their seals.

SQLite has no checksums of its own, and PostgreSQL's may be off, so a flipped bit on the disk would be read and exported
as if it were true. Rows are read in slices: one law may look at ten million of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.audit.law import Query, Row
from holdfast.errors import Corrupt
from holdfast.model.keys import canonical, key_of, key_of_name
from holdfast.model.outcome import seal_of

SLICE = 10_000


def wrong_keys(query: Query, job: int) -> list[Row]:
    [(salt,)] = query("SELECT salt FROM ledger", ())
    rows = _sliced(
        query,
        "SELECT t.id, t.key, l.origin, t.path, n.name FROM target t JOIN lane l ON l.id = t.lane "
        "LEFT JOIN named n ON n.target = t.id "
        f"WHERE +t.job = ? AND t.id > ? ORDER BY t.id LIMIT {SLICE}",
        job,
    )
    return [row for row in rows if not _is_key_of(row, bytes(salt))]


def _is_key_of(row: Row, salt: bytes) -> bool:
    _, key, origin, path, name = row
    if not origin:  # made of what is stored: it has a name and no address
        return name == path and key_of_name(name, salt) == bytes(key)
    address = canonical(f"{origin}{path}")
    if address is None or address.url != f"{origin}{path}":
        return False
    return (key_of_name(name, salt) if name else key_of(address, salt)) == bytes(key)


def damaged_records(query: Query, job: int) -> list[Row]:
    rows = _sliced(
        query,
        "SELECT t.id, r.n, r.doc, r.seal FROM target t JOIN record r ON r.target = t.id "
        f"WHERE +t.job = ? AND t.id > ? ORDER BY t.id, r.gen, r.n LIMIT {SLICE}",
        job,
    )
    return [(target, n, "not what was stored") for target, n, doc, seal in rows if not _is_sealed(doc, seal)]


def _is_sealed(doc: object, seal: object) -> bool:
    """SQLite keeps whatever a damage makes of a column: only bytes can be whole."""
    if not isinstance(doc, (bytes, memoryview)) or not isinstance(seal, (bytes, memoryview)):
        return False
    return seal_of(bytes(doc)) == bytes(seal)


def _sliced(query: Query, sql: str, job: int) -> Iterator[Row]:
    """All rows, slice by slice; the first column is the id that a slice goes on behind."""
    after = 0
    while rows := query(sql, (job, after)):
        last = rows[-1][0]
        # A target with several rows may be cut: its rows come again with the next slice, from the first one on.
        whole = rows if len(rows) < SLICE else [row for row in rows if row[0] != last]
        yield from whole
        if len(rows) < SLICE:
            return
        if last - 1 <= after:
            raise Corrupt(f"the rows after {after} come in no order: the ledger is damaged")
        after = last - 1
