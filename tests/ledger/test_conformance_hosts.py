"""Turns at hosts, kept robots.txt, breakers and limits, on every ledger."""

from __future__ import annotations

from conformance.hosts import TestBreaker, TestForbidden, TestLimits, TestRobots, TestTurns

__all__ = ["TestBreaker", "TestForbidden", "TestLimits", "TestRobots", "TestTurns"]
