"""What a law of the ledger is, and the words that the laws' SQL is written with.

A law holds where its statement finds nothing; what it finds are the offending rows. Every `?` is the job's id. One law
is one statement, so it sees one instant, and a job may be verified while it is worked. Statements are portable over
SQLite and PostgreSQL and only read. No code is shared with the ledger that wrote the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from holdfast.model.states import STATES_OF, TARGET, State

Row = tuple[Any, ...]
Query = Callable[[str, Sequence[Any]], list[Row]]


class Invariant(msgspec.Struct, frozen=True):
    """One law: the handbook's number with a word, what it says, and the statement that finds what breaks it."""

    name: str
    says: str
    sql: str


def quoted(names: Iterable[str]) -> str:
    """'a', 'b': constants of the model for an IN list."""
    return ", ".join(f"'{name}'" for name in names)


def states(*statuses: str) -> str:
    """The numbers under which targets of these statuses are stored."""
    return ", ".join(str(int(state)) for status in statuses for state in STATES_OF[status])


READY, WAITING, SOLO, HELD = (str(int(state)) for state in (State.READY, State.WAITING, State.SOLO, State.HELD))
SUCCEEDED, SKIPPED = states("succeeded"), states("skipped")
FAILED, CANCELLED = states("failed"), states("cancelled")
PENDING, SETTLED = states("pending"), states(*sorted(TARGET.final))

# A target that an exclusion left out, which people added later, or a changed scope: it may have been tried before.
LEFT_OUT = (
    f"(t.state = {SKIPPED} AND t.disposition = 'excluded' AND (substr(coalesce(t.rule, ''), 1, 10) = 'exclusion ' "
    "OR t.rule IN ('exclude', 'include', 'depth', 'scope')))"
)

# What rollbacks undid: of a chunk, the commits after `kept` and before `upto`. Their numbers stay, their rows do not.
UNDONE = (
    "WITH undone AS MATERIALIZED (SELECT e.chunk, e.n AS kept, e.no AS upto FROM entry e JOIN chunk c "
    "ON c.id = e.chunk WHERE c.job = ? AND e.verb = 'rollback')"
)

ATTEMPTS = "attempt a JOIN chunk c ON c.id = a.chunk"
ENTRIES = "entry e JOIN chunk c ON c.id = e.chunk"
