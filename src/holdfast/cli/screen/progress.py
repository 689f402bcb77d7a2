"""One progress update of a job being worked, and what a renderer is. Values and a protocol only."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

import msgspec

from holdfast.model.job import Counts, Job

REQUESTED = {"pause": "pausing", "cancel": "cancelling", "time_out": "timing out"}


class ProgressUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one instant, true since a commit. `now_ms` is monotonic, `wall_ms` for showing."""

    job: Job
    counts: Counts
    in_flight: int
    checkpoint: int | None
    checkpoint_ms: int | None
    rate: float | None
    now_ms: int
    wall_ms: int
    waiting: str = ""  # for what, while nothing is fetched


class Screen(Protocol):
    """Shows progress updates. `urgent` is called from signal handlers and must not wait for anything."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def show(self, update: ProgressUpdate) -> None: ...

    def urgent(self, text: str) -> None: ...


def activity(job: Job) -> str:
    """What the job does in one word: its phase, what was asked of it, the limit that stopped it, or its status."""
    if job.status != "in_progress":
        return job.stop_reason or job.status if job.status == "timeout" else job.status
    return REQUESTED[job.requested] if job.requested else job.phase
