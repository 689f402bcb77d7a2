"""Leases and rescues, on every ledger."""

from __future__ import annotations

from conformance.leasing import TestHeld, TestLease, TestRelease, TestRenew, TestRescue

__all__ = ["TestHeld", "TestLease", "TestRelease", "TestRenew", "TestRescue"]
