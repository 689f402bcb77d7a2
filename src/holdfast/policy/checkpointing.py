"""When a checkpoint is due (CHK-01). Says the reason; the row is written by the settle that asked."""

from __future__ import annotations

GAP_MS_MIN = 1_000


def due(
    *, settled_since: int, ms_since: int, every_targets: int, every_s: float, ms_since_last_written: int | None
) -> str | None:
    """`targets`, `interval` or None.

    `settled_since` and `ms_since` count from the last checkpoint, or from the start of the run where there is none;
    `ms_since_last_written` is None where this run has written none. At most one a second, whatever the pace.
    """
    if ms_since_last_written is not None and ms_since_last_written < GAP_MS_MIN:
        return None
    if 0 < every_targets <= settled_since:
        return "targets"
    if ms_since >= every_s * 1000:
        return "interval"
    return None
