"""Phases and targets without a host, on every ledger."""

from __future__ import annotations

from conformance.advancing import TestAdvance, TestNoHost

__all__ = ["TestAdvance", "TestNoHost"]
