"""The kinds of job that come with Holdfast, by name. One `Kind` per recipe will stand here."""

from __future__ import annotations

from holdfast.model.job import Job

SITE = "site"
CASES = "cases"
STARTS = {"site": "crawl", "cases": "cases"}  # every other recipe is started by `run`


def start_of(job: Job) -> str:
    """The command that starts jobs of this kind."""
    return STARTS.get(job.recipe, "run")
