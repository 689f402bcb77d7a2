"""`verify`: every law that needs no witness from outside, for one job. It only reads; an empty answer is good."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.audit.checks import CHECKS
from holdfast.audit.invariants import INVARIANTS
from holdfast.audit.law import Query, Row
from holdfast.errors import NotFound

__all__ = ["Finding", "Query", "check_names", "verify"]

ROWS_SHOWN_MAX = 100


class Finding(msgspec.Struct, frozen=True):
    """A broken law with the rows that break it, at most ROWS_SHOWN_MAX of them."""

    check: str
    sentence: str
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return f"{self.check} is broken ({self.sentence}) by {', '.join(map(str, self.rows[:3]))}"


def verify(query: Query, job: int) -> list[Finding]:
    """Judge one job by all laws, in the handbook's order."""
    if not query("SELECT 1 FROM job WHERE id = ?", (job,)):
        raise NotFound(f"there is no job {job}")
    found = [Finding(name, says, tuple(rows)) for name, says, judge in _laws() if (rows := judge(query, job))]
    return sorted(found, key=lambda finding: _order(finding.check))


def check_names() -> tuple[str, ...]:
    """Every law by name, in the handbook's order."""
    return tuple(sorted((name for name, _, _ in _laws()), key=_order))


def _laws() -> list[tuple[str, str, Callable[[Query, int], list[Row]]]]:
    by_sql = [(law.name, law.says, _judged_by(law.sql)) for law in INVARIANTS]
    return by_sql + [(check.name, check.says, _shortened(check.find)) for check in CHECKS]


def _judged_by(sql: str) -> Callable[[Query, int], list[Row]]:
    # Materialised, so that PostgreSQL plans for all rows: it hopes to meet the first few soon, and there are none.
    limited = f"WITH offender AS MATERIALIZED ({sql}) SELECT * FROM offender LIMIT {ROWS_SHOWN_MAX}"
    return lambda query, job: query(limited, (job,) * sql.count("?"))


def _shortened(find: Callable[[Query, int], list[Row]]) -> Callable[[Query, int], list[Row]]:
    return lambda query, job: find(query, job)[:ROWS_SHOWN_MAX]


def _order(name: str) -> tuple[int, int, str]:
    """L2 before L10, then F, then the rules for rows."""
    letter, digits = name[0], "".join(filter(str.isdigit, name))
    return "LFr".index(letter), int(digits or 0), name
