"""Repair, on every ledger."""

from __future__ import annotations

from conformance.repairing import TestRepair

__all__ = ["TestRepair"]
