"""People's verbs, on every ledger."""

from __future__ import annotations

from holdfast.testing.conformance.moving import TestAcknowledge, TestCancelRest, TestMove, TestRequest
from holdfast.testing.conformance.submitting import TestAmend, TestRuns, TestSetAside, TestSubmit, TestUnknownJobs

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
