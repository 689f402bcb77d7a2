"""The table of laws that one SQL statement can judge: name, what it says, the statement that finds what breaks it."""

from __future__ import annotations

from holdfast.audit import commits, counts, rows
from holdfast.audit.law import Invariant

INVARIANTS: tuple[Invariant, ...] = commits.LAWS + counts.LAWS + rows.LAWS
