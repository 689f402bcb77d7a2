"""Surveys, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.surveying import (
    TestBreakdown,
    TestChanges,
    TestCutShort,
    TestFrontier,
    TestLinksOut,
    TestRobotsText,
)

__all__ = ["TestBreakdown", "TestChanges", "TestCutShort", "TestFrontier", "TestLinksOut", "TestRobotsText"]
