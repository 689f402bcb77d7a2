"""Going back to a checkpoint, on every ledger."""

from __future__ import annotations

from conformance.rolling_back import (
    TestFencedByRollback,
    TestHistoryOfRollback,
    TestRefusedRollback,
    TestRollback,
    TestWhatStoodBeside,
)

__all__ = [
    "TestFencedByRollback",
    "TestHistoryOfRollback",
    "TestRefusedRollback",
    "TestRollback",
    "TestWhatStoodBeside",
]
