"""A runner works a job: a session in this process, or a supervised pool of worker processes."""

from __future__ import annotations

from typing import Protocol

import msgspec

from holdfast.model.job import Counts, Job
from holdfast.model.lease import Rescued
from holdfast.model.spread import Spread


class SessionEnd(msgspec.Struct, frozen=True):
    """How a runner ended: completed failed paused interrupted cancelled timeout disk_full lost."""

    job: Job
    counts: Counts
    checkpoint: int | None
    how: str


class Runner(Protocol):
    """Works one job until it ends, is paused, or is told to stop. Used once."""

    rescued: Rescued | None  # what was put back of a worker that had died
    not_saved: int  # pages that a full disk kept from being saved
    lock_waits: Spread | None  # for the ledger's write lock; None where it was not measured

    @property
    def waiting(self) -> str:
        """For what, while nothing is fetched."""

    @property
    def stands_still(self) -> bool:
        """Whether a step holds up this process, so that no order reaches the runner."""

    def run(self) -> SessionEnd:
        """Returns when the job is over for this runner; `lost`: another process has it."""

    def interrupt(self, why: str) -> None:
        """`pause` or `drain`; pages in hand are finished first. May be called by any thread or signal handler, at any
        time."""
