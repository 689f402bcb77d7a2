"""Which chunks a job gets that was asked for again with more names: keywords, slices of a list. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import Refused
from holdfast.model.job import PHASES, Grown, Job


def added_chunks(job: Job, there: Sequence[str], grown: Grown) -> tuple[str, ...]:
    """The names behind those that are there; Refused where one of these is missing or has another place.

    A plan gives the targets of its chunks in their order, and goes on by the number of those that it gave before: names
    are only ever added at the end, and only while the phase lasts that they are planned in.
    """
    if tuple(grown.chunks[: len(there)]) != tuple(there):
        raise Refused(
            f"{job.name} keeps its chunks in their order: {' '.join(there)}; others can only be added behind them"
        )
    added = grown.chunks[len(there) :]
    if added and job.phase != PHASES[0]:
        raise Refused(f"{job.name} is {job.phase} already: nothing can be added to its plan")
    return added
