"""Looking, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.looking import (
    TestCheckpoints,
    TestEvents,
    TestFailures,
    TestFindingTargets,
    TestPulse,
)

__all__ = ["TestCheckpoints", "TestEvents", "TestFailures", "TestFindingTargets", "TestPulse"]
