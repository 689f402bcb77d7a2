"""What a job's own history adds to its document: how long it was paused, and when it failed last. Reads its moves only.

The ledger keeps when a job was paused last, not the sum; its moves are few, whatever the job's size.
"""

from __future__ import annotations

import msgspec

from holdfast.model.states import JOB
from holdfast.ports import Looks
from holdfast.views.history import every_event

_MOVES = [("job", row.verb) for row in JOB.moves if "paused" in (row.source, row.target) or row.target == "failed"]
_ENDED = ("run", "finish")  # with why it stopped; at the same moment as the job, and told before it


class Past(msgspec.Struct, frozen=True):
    """`paused_ms` over all pauses, one that lasts up to now; `failed_at` in wall ms, and what for."""

    paused_ms: int = 0
    failed_at: int | None = None
    failed_for: str = ""


def past_of(looks: Looks, job: int, now_ms: int) -> Past:
    """A clock that was set back adds nothing."""
    paused_ms, since, failed_at, failed_for, stopped_for = 0, None, None, "", ""
    for event in every_event(looks, job, since=0, kinds=tuple(dict.fromkeys([*_MOVES, _ENDED]))):
        if (event.thing, event.verb) == _ENDED:
            stopped_for = event.because
            continue
        if event.target == "failed":
            failed_at, failed_for = event.at, stopped_for
        if since is not None and event.target != "paused":
            paused_ms, since = paused_ms + max(0, event.at - since), None
        elif since is None and event.target == "paused":
            since = event.at
    if since is not None:
        paused_ms += max(0, now_ms - since)
    return Past(paused_ms, failed_at, failed_for)
