"""A changed scope, on every ledger."""

from __future__ import annotations

from conformance.rescoping import TestRescope

__all__ = ["TestRescope"]
