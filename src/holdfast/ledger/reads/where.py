"""Which targets a filter means, as SQL: every value is a parameter, never part of the text.

Listing, retrying and exporting share this, so that a verb touches exactly what a list showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.errors import BadParams
from holdfast.ledger.tx import marks
from holdfast.model.outcome import UNCHANGED
from holdfast.model.states import STATES_OF
from holdfast.policy.filters import reading, resolved, statuses

Condition = tuple[str, bool, tuple[str, ...]]

# The generation of its result: an unchanged target has none of its own, and stands by its last one.
RESULT_GEN = (
    f"CASE WHEN t.disposition = '{UNCHANGED}' THEN (SELECT max(k.gen) FROM record k WHERE k.target = t.id) "
    "ELSE t.gen END"
)

# t target, l lane, h host, f and d the commits that found and settled it, b its body, m its mark.
JOINED = (
    "target t JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host "
    "LEFT JOIN entry f ON f.chunk = t.found_chunk AND f.no = t.found_no "
    "LEFT JOIN entry d ON d.chunk = t.done_chunk AND d.no = t.done_no "
    f"LEFT JOIN body b ON b.target = t.id AND b.gen = {RESULT_GEN} "
    "LEFT JOIN label m ON m.target = t.id"
)
# A target is settled in the run that was the newest then.
RUN = "(SELECT max(u.n) FROM run u WHERE u.job = t.job AND u.started_at <= d.at)"
COLUMNS = {
    "disposition": "t.disposition",
    "rule": "t.rule",
    "code": "t.code",
    "type": "t.type",
    "host": "h.key",
    "url": "l.origin || t.path",
    "depth": "t.depth",
    "parent": "t.parent",
    "chunk": "l.chunk",
    "run": RUN,
    "attempts": "t.attempts",
    "bytes": "b.size",
    "label": "m.word",
    "found": "f.at",
    "settled": "d.at",
    "id": "t.id",
}
_FALSE = "1 = 0"
_EQUAL = "="


def clauses(where: Sequence[Condition], now_ms: int) -> tuple[str, list[Any]]:
    """The conditions as ` AND …` over JOINED, with their parameters; empty for none."""
    texts: list[str] = []
    values: list[Any] = []
    for condition in resolved(where, now_ms):
        text, parameters = _clause(condition)
        texts.append(f" AND {text}")
        values.extend(parameters)
    return "".join(texts), values


def named_ids(where: Sequence[Condition]) -> tuple[frozenset[int] | None, list[Condition]]:
    """The ids that a filter names, None where it names none, and its other conditions.

    A rule over rows may name a hundred thousand of them, which no statement takes as parameters.
    """
    named: frozenset[int] | None = None
    others: list[Condition] = []
    for condition in where:
        column, wanted, values = condition
        if column == "id" and wanted:
            ids = frozenset(int(reading(column, value).value) for value in values)
            named = ids if named is None else named & ids
        else:
            others.append(condition)
    return named, others


def _clause(condition: Condition) -> tuple[str, list[Any]]:
    column, wanted, values = condition
    parts: list[str] = []
    parameters: list[Any] = []
    equal: list[Any] = []
    for value in values:
        text, parameter = _comparison(column, value)
        if text == _EQUAL:
            equal.extend(parameter)
        else:
            parts.append(text)
            parameters.extend(parameter)
    if equal:  # as one term: SQLite takes at most a thousand joined by OR
        parts.append(f"{COLUMNS[column]} IN ({marks(equal)})")
        parameters.extend(equal)
    joined = " OR ".join(parts)
    return (f"({joined})" if wanted else f"NOT coalesce(({joined}), {_FALSE})"), parameters


def _comparison(column: str, value: str) -> tuple[str, list[Any]]:
    if column == "status":
        states = [int(state) for status in statuses(value) for state in STATES_OF[status]]
        return f"t.state IN ({marks(states)})", states
    if column not in COLUMNS:
        raise BadParams(f"targets cannot be filtered by {column!r}")
    name, meant = COLUMNS[column], reading(column, value)
    if meant.op == "*":
        escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
        return f"{name} LIKE ? ESCAPE '\\'", [escaped]
    return (_EQUAL if meant.op == "=" else f"{name} {meant.op} ?"), [meant.value]
