"""Marks on targets, on every ledger."""

from __future__ import annotations

from conformance.labelling import TestLabel

__all__ = ["TestLabel"]
