"""Settling, fencing and claiming, on every ledger."""

from __future__ import annotations

from conformance.claiming import TestClaim, TestHosts, TestNextDue, TestSuspects
from conformance.fencing import TestFence, TestKey
from conformance.settling import TestFound, TestResults, TestSettle

__all__ = [
    "TestClaim",
    "TestFence",
    "TestFound",
    "TestHosts",
    "TestKey",
    "TestNextDue",
    "TestResults",
    "TestSettle",
    "TestSuspects",
]
