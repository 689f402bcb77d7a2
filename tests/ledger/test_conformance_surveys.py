"""Surveys, on every ledger."""

from __future__ import annotations

from conformance.surveying import (
    TestBreakdown,
    TestChanges,
    TestCutShort,
    TestFrontier,
    TestLinksOut,
    TestOpenChunks,
    TestRobotsText,
)

__all__ = [
    "TestBreakdown", "TestChanges", "TestCutShort", "TestFrontier", "TestLinksOut", "TestOpenChunks", "TestRobotsText",
]  # fmt: skip
