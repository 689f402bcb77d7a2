"""Mending, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.mending import TestMend

__all__ = ["TestMend"]
