"""Exclusions on a job, on every ledger."""

from __future__ import annotations

from conformance.excluding import TestExclude, TestInclude

__all__ = ["TestExclude", "TestInclude"]
