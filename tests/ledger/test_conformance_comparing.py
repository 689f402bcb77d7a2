"""Scans for what is new or changed, on every ledger."""

from __future__ import annotations

from conformance.comparing import TestBefore, TestUnchanged

__all__ = ["TestBefore", "TestUnchanged"]
