"""Marks on targets, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.labelling import TestLabel

__all__ = ["TestLabel"]
