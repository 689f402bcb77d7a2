"""A changed scope, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.rescoping import TestRescope

__all__ = ["TestRescope"]
