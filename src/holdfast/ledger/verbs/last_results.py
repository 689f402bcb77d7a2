"""What targets gave when they were last fetched, for jobs that fetch only what is new or changed.

Attached only when the job is in `new` mode, regardless of what the claiming worker assumes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from holdfast.ledger.reads.targets import LAST_GOOD
from holdfast.ledger.tx import Tx, marks, padded
from holdfast.model.edit import NEW
from holdfast.model.outcome import seal_of
from holdfast.model.target import Claimed

RECORDS_PER_QUERY = 256
# What would be served if it could not be had this time. What was gone meanwhile, or lost its bytes, is fetched anew.
_STANDING = (
    "SELECT t.id, r.doc, r.seal FROM target t JOIN plan p ON p.job = t.job AND p.mode = ? JOIN record r "
    "ON r.target = t.id AND r.n = 0 AND r.gen = (SELECT max(g.gen) FROM record g WHERE g.target = t.id) "
    f"WHERE t.id IN ({{ids}}) AND {LAST_GOOD}"
)


def with_records(tx: Tx, claimed: Sequence[Claimed]) -> list[Claimed]:
    """The same targets, each with the first record of its last good result; without one that is damaged."""
    again = [item.id for item in claimed if item.generation > 1]
    known: dict[int, bytes] = {}
    for start in range(0, len(again), RECORDS_PER_QUERY):
        ids = padded(again[start : start + RECORDS_PER_QUERY])
        rows = tx.rows(_STANDING.format(ids=marks(ids)), (NEW, *ids))
        known.update((target, bytes(doc)) for target, doc, seal in rows if seal_of(bytes(doc)) == bytes(seal))
    return [msgspec.structs.replace(item, before=known[item.id]) if item.id in known else item for item in claimed]
