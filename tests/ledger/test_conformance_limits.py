"""Page and time limits, and stale jobs, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.limiting import TestPageLimit, TestStale, TestTimeLimit

__all__ = ["TestPageLimit", "TestStale", "TestTimeLimit"]
