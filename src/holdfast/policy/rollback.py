"""Which checkpoint a job can go back to, and why not to another one. Pure."""

from __future__ import annotations

from holdfast.errors import NotFound, Refused
from holdfast.model.job import Job
from holdfast.model.record import Checkpoint, Circumstances


def no_checkpoint(job: Job, number: int, newest: int | None) -> NotFound:
    there = "it has none yet" if newest is None else f"its newest is {newest}"
    return NotFound(f"{job.name} has no checkpoint {number}: {there}", hint=f"holdfast checkpoints {job.word}")


def checked(job: Job, number: int, point: Checkpoint | None, undone_by: int | None) -> tuple[Checkpoint, Circumstances]:
    """Refused where the checkpoint cannot be gone back to, with the reason."""
    hint = f"holdfast checkpoints {job.word}"
    if undone_by is not None:
        raise Refused(
            f"checkpoint {number} of {job.name} was undone by a rollback, which wrote {undone_by}: what it counted is "
            "no longer there",
            hint=hint,
        )
    if point is None:
        raise Refused(
            f"checkpoint {number} of {job.name} is damaged, so its state is unknown. The rows are intact", hint=hint
        )
    if point.beside is None:
        raise Refused(
            f"checkpoint {number} of {job.name} was written by an older Holdfast, which did not note where plan and "
            "exclusions stood",
            hint=hint,
        )
    return point, point.beside
