"""Exclusions on a job, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.excluding import TestExclude, TestInclude

__all__ = ["TestExclude", "TestInclude"]
