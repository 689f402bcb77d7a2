"""Exports: the results of a job as one file, derived from the ledger alone. The same content gives the same bytes.

Lines are in discovery order, a WARC file is in the order of its URLs; what is committed when its turn comes is in it.
Memory does not grow with the job.
"""

from __future__ import annotations

from collections.abc import Callable

Write = Callable[[bytes], object]
