"""Files of targets: the cases of `conformance.filing` on every ledger."""

from __future__ import annotations

from conformance.filing import TestFiles

__all__ = ["TestFiles"]
