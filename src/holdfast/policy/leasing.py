"""When to renew a lease, when to stop using it, and how many chunks are a fair share. Knows no ledger and no clock.

A worker counts a lease's life from the moment it *asked*, on its own monotonic clock: the store began counting later,
so the worker's deadline always comes first, and a margin is kept for what it is about to do (E3).
"""

from __future__ import annotations

import math

from holdfast.model.job import WORK_CHUNKS

RENEW_AT_SHARE = 1 / 3
MARGIN_SHARE = 1 / 10


def may_use(*, now_ms: int, asked_ms: int, life_ms: int) -> bool:
    """Whether a fetch or settle may still begin under a lease asked for at `asked_ms`; else abandon the work."""
    return now_ms < deadline(asked_ms=asked_ms, life_ms=life_ms)


def deadline(*, asked_ms: int, life_ms: int) -> int:
    """The monotonic moment from which on this worker treats the lease as lost."""
    return asked_ms + math.floor(life_ms * (1 - MARGIN_SHARE))


def share(live_workers: int, chunks: int = WORK_CHUNKS) -> int:
    """How many chunks one of so many live workers may hold (FRO-12): together they can hold all of them."""
    return math.ceil(chunks / max(live_workers, 1))
