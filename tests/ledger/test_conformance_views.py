"""Reading, on every ledger."""

from __future__ import annotations

from conformance.reading import (
    TestConnections,
    TestEnded,
    TestFindingJobs,
    TestHistory,
    TestPages,
    TestResults,
    TestStreams,
    TestTargets,
)

__all__ = [
    "TestConnections",
    "TestEnded",
    "TestFindingJobs",
    "TestHistory",
    "TestPages",
    "TestResults",
    "TestStreams",
    "TestTargets",
]
