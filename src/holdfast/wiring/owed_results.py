"""The results that a job remembers a place for and has not written to the end: noted in the data folder."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from holdfast.blobs import owed
from holdfast.config import Settings
from holdfast.model.job import Job


def owe_results(settings: Settings, job: Job) -> None:
    """Before anything is done that its results will have to show. What was set aside has left its file to another."""
    if _remembers(job):
        owed.owe(_path(settings, job), _note(job))


def owes_results(settings: Settings, job: Job) -> bool:
    return _remembers(job) and owed.is_owed(_path(settings, job), _note(job))


def settle_results(settings: Settings, job: Job) -> None:
    """The results are whole, as of this job's last commit."""
    owed.settle(_path(settings, job))


def held_results(settings: Settings, job: Job) -> AbstractContextManager[bool]:
    """While they are written; False where another process does that now."""
    return owed.held(_path(settings, job)) if _remembers(job) else nullcontext(True)


def _remembers(job: Job) -> bool:
    return bool(job.options.output) and job.identity is not None


def _note(job: Job) -> owed.OwedNote:
    return owed.OwedNote(job.options.output, job.options.output_form)


def _path(settings: Settings, job: Job) -> Path:
    return settings.exports / f"{job.uid}.owed"
