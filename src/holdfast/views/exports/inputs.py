"""What a job reads is never replaced by what it writes: a list that its own results have overwritten is gone."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from holdfast.errors import BadParams
from holdfast.model.demands import files_read
from holdfast.model.job import Job


def refuse_input(job: Job, path: Path, beside: tuple[str, ...] = ()) -> None:
    """Raise where results, or a report, would go onto a file that the job reads. `beside`: what is written if the path
    is a folder."""
    refuse_files(files_read(job.params), path, beside)


def refuse_files(names: Iterable[str], path: Path, beside: tuple[str, ...] = ()) -> None:
    for name in names:
        for place in (path, *(path / each for each in beside)):
            with suppress(OSError, ValueError):  # one of them is not there
                if place.samefile(name):
                    raise BadParams(
                        f"{name} is what the job reads; its results go to another file", hint="-o results.csv"
                    )
