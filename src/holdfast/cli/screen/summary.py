"""The last words of a command that worked a job (ux 3.4), and what a found job is announced with. Pure texts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast.cli.screen.refusals import NEXT_LIMIT, raise_limit, start_over
from holdfast.cli.screen.text import parts_of
from holdfast.cli.screen.values import ago, show_duration, show_size
from holdfast.model.job import Counts, Job
from holdfast.model.spelling import as_word, count_of
from holdfast.model.spread import Spread
from holdfast.recipes.catalogue import kind_of

FIRST_WORDS = {
    "completed": "Completed",
    "paused": "Paused",
    "disk_full": "Paused",
    "interrupted": "Interrupted",
    "lost": "Interrupted",
    "timeout": "Timed out",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
PAGE_LIMIT = "page_limit"
GOES_ON = ("paused", "disk_full", "interrupted", "lost", "failed")


def summary(
    how: str,
    job: Job,
    counts: Counts,
    checkpoint: int | None,
    *,
    wrote: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Always last on stderr: how it ended, the books, what failed, and the ways on. `wrote`: the results' file."""
    run = f"R-{job.run}" if job.run else "not run"
    point = "no checkpoint" if checkpoint is None else f"checkpoint {checkpoint}"
    lines = [f"{first_words(how, job)}  {job.name}  {run}   {books(counts)}   {point}"]
    if how in ("failed", "timeout") or (how == "paused" and job.paused_by not in ("interrupt", "user", None)):
        lines.append(f"  because: {job.because}")
    if counts.failed:
        lines.append(f"  failed: {parts_of(counts.failed_by)}        see: holdfast errors {job.word}")
    if counts.skipped:
        see = f"see: holdfast targets {job.word} --where status:skipped"
        lines.append(f"  skipped: {parts_of(counts.skipped_by)}        {see}")
    lines += [f"  {note}" for note in notes]
    lines.append(f"  {ways_on(how, job, wrote, has_results=counts.succeeded > 0)}")
    return "\n".join(lines)


def first_words(how: str, job: Job) -> str:
    return "Stopped at its page limit" if (how, job.stop_reason) == ("timeout", PAGE_LIMIT) else FIRST_WORDS[how]


def inputs(job: Job) -> str:
    """What the job was begun with, behind a gap: the first of its inputs; nothing of a recipe of one's own."""
    given = job.params.get(kind_of(job).inputs) or [""]
    given = given if isinstance(given, list) else [given]
    first = f"{given[0]} and {len(given) - 1} more" if len(given) > 1 else str(given[0])
    return f"  {first}" if first else ""


def books(counts: Counts) -> str:
    """The identity with its numbers; what is in progress is named only while there is some."""
    names = ("succeeded", "failed", "skipped", "cancelled", "pending")
    parts = [f"{getattr(counts, name)} {name}" for name in names]
    if counts.in_progress:
        parts.append(f"{counts.in_progress} in progress")
    return f"discovered {counts.discovered} = {' + '.join(parts)}"


def ways_on(how: str, job: Job, wrote: str | None = None, *, has_results: bool = True) -> str:
    """A job remembers its -o: whatever command goes on with it keeps the file up to date."""
    export = f"holdfast export {job.word} -o {as_word(f'{job.name}.jsonl')}"
    if how == "completed":
        return f"results: {wrote or export}"
    so_far = f"     results so far: {wrote if wrote and how == 'timeout' else export}" if has_results else ""
    if how in GOES_ON and wrote:
        return f"continue: holdfast resume {job.word}, which also writes {wrote} anew"
    if how in GOES_ON:
        return f"continue: holdfast resume {job.word}{so_far}"
    if how == "timeout":
        return f"continue: {_past_limit(job)}{so_far}"
    return f"start over: {start_over(job)}{so_far}"


def _past_limit(job: Job) -> str:
    command = raise_limit(job, job.stop_reason)
    return f"{command}, or without --limit for the rest" if command.endswith(NEXT_LIMIT) else command


def starting(job: Job) -> str:
    return f"Starting {job.uid} {job.name}"


def resuming(job: Job, counts: Counts, now_ms: int) -> str:
    stopped = ago(stopped_at(job), now_ms)
    return f"Resuming {job.name}: {counts.succeeded} done, {counts.left} left, stopped {stopped}. --new starts over."


def stopped_at(job: Job) -> int:
    """When it stopped. A crash leaves no time of its own: `since` is then its last commit (control.as_it_stands)."""
    if job.status == "paused" and job.paused_at is not None:
        return job.paused_at
    if job.status in ("failed", "timeout") and job.finished_at is not None:
        return job.finished_at
    return job.since


def is_complete(job: Job, counts: Counts, now_ms: int) -> str:
    when = ago(job.finished_at or job.since, now_ms)
    done = f"{counts.succeeded} done, {counts.failed} failed, {when}"
    again = "new looks for changes" if "new" in kind_of(job).modes else "full fetches all again"
    return f"{job.name} is complete: {done}. --mode {again}; --new starts over."


def scanning_again(job: Job, counts: Counts, mode: str, now_ms: int) -> str:
    what = {"new": "looking for what is new or changed", "full": "everything is fetched again"}
    when = ago(job.finished_at or job.since, now_ms)
    told = what[mode if mode in kind_of(job).modes else "full"]
    return f"Scanning {job.name} again: {counts.succeeded} done, {counts.failed} failed, {when}; {told}."


def starting_again(job: Job, counts: Counts) -> str:
    """Everything that was fetched before is fetched once more."""
    done = f"{counts.succeeded} done, {counts.failed} failed"
    return f"Starting {job.name} again from the beginning: {done} so far, kept until each is fetched anew."


def is_timed_out(job: Job, mode: str | None = None) -> str:
    """Which limit, and the command that raises it. `mode`: of a scan that was asked for, and has to wait."""
    if job.stop_reason == "time_limit":
        what = f"its time limit of {show_duration(job.options.time_limit_s or 0)} of active time"
    else:
        what = f"its page limit of {job.options.max_pages}"
    go_on = _past_limit(job)
    waits = f" --mode {mode} is for a complete job." if mode else ""
    return f"{job.name} has reached {what}; nothing is fetched.{waits} To go on: {go_on}. --new starts over."


def disk_low(job: Job, *, free_mb: float, wanted_mb: float, not_saved: int) -> str:
    return (
        f"Disk low, {free_mb:.0f} MB free: paused {job.name}, {count_of(not_saved, 'page')} not saved. "
        f"Free {missing_mb(free_mb, wanted_mb)} MB, then: holdfast resume {job.word}"
    )


def still_low(job: Job, *, free_mb: float, wanted_mb: float) -> str:
    return (
        f"Disk low, {free_mb:.0f} MB free: {job.name} stays paused, there is no room to work it safely. "
        f"Free {missing_mb(free_mb, wanted_mb)} MB, then: holdfast resume {job.word}"
    )


def missing_mb(free_mb: float, wanted_mb: float) -> int:
    return max(1, math.ceil(wanted_mb - free_mb))


def lock_wait(waits: Spread) -> str:
    ms = waits.in_ms()
    return f"ledger lock wait: p50 {ms['p50']} p95 {ms['p95']} max {ms['max']} ms per commit ({waits.count} commits)"


def exported(count: int, noun: str, path: str, size: int | None) -> str:
    """`size` is None of a folder, whose files say it."""
    weight = "" if size is None else f" ({show_size(float(f'{size:.3g}'))})"
    return f"Wrote {count_of(count, noun)} to {path}{weight}."
