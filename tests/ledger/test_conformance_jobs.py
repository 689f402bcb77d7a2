"""People's verbs, on every ledger."""

from __future__ import annotations

from conformance.moving import TestAcknowledge, TestCancelRest, TestMove, TestRequest
from conformance.submitting import TestAmend, TestRuns, TestSetAside, TestSubmit, TestUnknownJobs

__all__ = [
    "TestAcknowledge",
    "TestAmend",
    "TestCancelRest",
    "TestMove",
    "TestRequest",
    "TestRuns",
    "TestSetAside",
    "TestSubmit",
    "TestUnknownJobs",
]
