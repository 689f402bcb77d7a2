"""The races of the design review, on every ledger."""

from __future__ import annotations

from conformance.races import TestRaces

__all__ = ["TestRaces"]
