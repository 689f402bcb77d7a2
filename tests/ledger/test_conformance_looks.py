"""Looking, on every ledger."""

from __future__ import annotations

from conformance.looking import TestCheckpoints, TestEvents, TestFailures, TestFindingTargets, TestPulse

__all__ = ["TestCheckpoints", "TestEvents", "TestFailures", "TestFindingTargets", "TestPulse"]
