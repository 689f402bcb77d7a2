"""Retry, rescan and restart, on every ledger."""

from __future__ import annotations

from conformance.reopening import TestAsOf, TestRescan, TestRestart, TestRetry, TestTheTable

__all__ = ["TestAsOf", "TestRescan", "TestRestart", "TestRetry", "TestTheTable"]
