"""Page and time limits, targets per host, and stale jobs, on every ledger."""

from __future__ import annotations

from conformance.limiting import TestPageLimit, TestStale, TestTargetsPerHost, TestTimeLimit

__all__ = ["TestPageLimit", "TestStale", "TestTargetsPerHost", "TestTimeLimit"]
