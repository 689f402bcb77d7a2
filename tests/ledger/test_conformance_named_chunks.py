"""Named chunks on SQLite, PostgreSQL and in memory."""

from __future__ import annotations

from conformance.named_chunks import TestNamedChunks

__all__ = ["TestNamedChunks"]
