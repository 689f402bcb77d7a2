"""Settling, fencing and claiming, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.claiming import TestClaim, TestHosts, TestNextDue, TestSuspects
from holdfast.testing.conformance.fencing import TestFence, TestKey
from holdfast.testing.conformance.settling import TestFound, TestResults, TestSettle

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
