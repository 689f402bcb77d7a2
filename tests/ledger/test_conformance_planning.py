"""Planning, finishing and checkpoints, on every ledger."""

from __future__ import annotations

from conformance.planning import TestCheckpoints, TestEnqueue, TestFinish, TestNames, TestPlanThatFails

__all__ = ["TestCheckpoints", "TestEnqueue", "TestFinish", "TestNames", "TestPlanThatFails"]
