"""The cap of targets per host (FRO-11): what is found beyond it is a row all the same, skipped under `limit`.

Every row of the host counts but those under `limit`. How many there are is kept while a run lasts, and counted from the
rows where it is not known: so nothing that takes rows away, or restores them, need know of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from holdfast.ledger.tx import Tx, marks, one, padded
from holdfast.model.target import Found
from holdfast.policy.traps import LIMIT, PER_HOST

FoundRow = tuple[int, int, int | None, Found]  # finder's chunk, its commit number, parent, what was found
KEYS_PER_QUERY = 256
_COUNTED = (
    "SELECT count(*) FROM target t JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
    f"WHERE t.job = ? AND h.key = ? AND (t.disposition IS NULL OR t.disposition <> '{LIMIT}')"
)


def capped(tx: Tx, job: int, found: dict[bytes, FoundRow], most: int) -> dict[bytes, FoundRow]:
    """The same, by key; what is new is left out where its host is full, in the order in which it was found.

    The caller settles alone in this job, so what is counted here is still so at the commit.
    """
    by_host: dict[str, list[bytes]] = {}
    for key, (_, _, _, item) in found.items():
        if not item.disposition:
            by_host.setdefault(item.host, []).append(key)
    out: set[bytes] = set()
    for host, keys in by_host.items():
        total = _total(tx, job, host)
        if total + len(keys) > most:
            known = _known(tx, job, keys)
            out.update([key for key in keys if key not in known][max(0, most - total) :])
    return {key: _left_out(row) if key in out else row for key, row in found.items()}


def add_to_totals(tx: Tx, job: int, new: Iterable[Found]) -> None:
    """So many more, of hosts that are being counted."""
    more = Counter(item.host for item in new if item.disposition != LIMIT)
    tx.many(
        "UPDATE host_total SET n = n + ? WHERE job = ? AND host = ?",
        [(n, job, host) for host, n in sorted(more.items())],
    )


def _left_out(row: FoundRow) -> FoundRow:
    finder, no, parent, item = row
    return finder, no, parent, msgspec.structs.replace(item, disposition=LIMIT, rule=PER_HOST)


def _total(tx: Tx, job: int, host: str) -> int:
    row = one(tx, "SELECT n FROM host_total WHERE job = ? AND host = ?", (job, host))
    if row is None:
        row = one(tx, _COUNTED, (job, host))
        assert row is not None
        tx.run("INSERT INTO host_total (job, host, n) VALUES (?, ?, ?)", (job, host, row[0]))
    return int(row[0])


def _known(tx: Tx, job: int, keys: list[bytes]) -> set[bytes]:
    found: set[bytes] = set()
    for start in range(0, len(keys), KEYS_PER_QUERY):
        part = padded(keys[start : start + KEYS_PER_QUERY])
        rows = tx.rows(f"SELECT key FROM target WHERE job = ? AND key IN ({marks(part)})", (job, *part))
        found.update(bytes(key) for (key,) in rows)
    return found
