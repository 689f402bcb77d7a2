"""Limits of a job: how many pages, how much active time. Decides over values; reads no clock and no ledger.

A limit ends a job as `timeout`. That is not a failure: results stay readable, and pending targets stay pending.
"""

from __future__ import annotations

import msgspec

from holdfast.errors import BadParams
from holdfast.model.job import FETCHING, Counts, Job, Options
from holdfast.policy.health import Ending


def pages_of(counts: Counts) -> int:
    """What a page limit counts: targets that came to an end by being fetched."""
    return counts.succeeded + counts.failed


def reached(job: Job, counts: Counts) -> str | None:
    """Which limit keeps this job from going on: `time_limit`, `page_limit`, or None.

    A page limit ends the first phase: a job in a later one goes on, and says so at its end.
    """
    options = job.options
    if time_left_ms(options, job.active_ms) == 0:
        return "time_limit"
    if job.phase != FETCHING and job.status != "timeout":
        return None
    if options.max_pages is not None and pages_of(counts) >= options.max_pages:
        return "page_limit"
    return None


def time_left_ms(options: Options, active_ms: int) -> int | None:
    """What is left of the active time, never less than 0; None: there is no limit."""
    return None if options.time_limit_s is None else max(0, round(options.time_limit_s * 1000) - active_ms)


def at_page_limit(counts: Counts, pages_max: int | None) -> Ending | None:
    """The ending of a job that has fetched all it may, with nothing in hand; None: it may go on."""
    if pages_max is None or counts.in_progress or pages_of(counts) < pages_max:
        return None
    return Ending("time_out", "partial", f"the page limit of {pages_max} is reached", "page_limit")


def extended(job: Job, counts: Counts, more_s: float | None, more_pages: int | None) -> Options:
    """The job's options with limits raised by this much beyond what is used up; a limit it has not cannot be raised."""
    raised: dict[str, float] = {}
    if more_s is not None:
        if job.options.time_limit_s is None:
            raise BadParams(f"{job.name} has no time limit that could be extended")
        in_all_s = max(job.options.time_limit_s, job.active_ms / 1000) + more_s
        raised["time_limit_s"] = round(in_all_s, 1 if more_s >= 1 else 3)  # people read it: 9s, not 9.006s
    if more_pages is not None:
        if job.options.max_pages is None:
            raise BadParams(f"{job.name} has no page limit that could be extended")
        raised["max_pages"] = max(job.options.max_pages, pages_of(counts)) + more_pages
    return msgspec.structs.replace(job.options, own=tuple(sorted({*job.options.own, *raised})), **raised)
