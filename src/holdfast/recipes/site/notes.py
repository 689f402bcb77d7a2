"""What people should know when the crawl of a site ends: what did not change, and what was taken in part or left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model.edit import NEW
from holdfast.model.outcome import IN_PART, NOFOLLOW, UNCHANGED
from holdfast.model.spelling import count_of
from holdfast.recipes.site.made_types import EXTRACT

if TYPE_CHECKING:
    from holdfast.model.job import Counts, Job
    from holdfast.ports import Ledger

ROWS_AT_ONCE = 5_000


def notes(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    """From counters, one line each; none where there is nothing to say."""
    by = dict.fromkeys((UNCHANGED, IN_PART, NOFOLLOW), 0)
    for group, _, n in ledger.breakdown(job.id, "disposition"):
        if group in by:
            by[group] += n
    is_again = job.generation > 1 and ledger.mode(job.id) == NEW
    if is_again and by[UNCHANGED] and job.params.get("report"):
        by[UNCHANGED] -= _made_again_alike(ledger, job)
    return [
        *([_unchanged(job, by[UNCHANGED])] if is_again else []),
        *_in_part(ledger, job, by[IN_PART]),
        *_asked_to_leave(job, by[NOFOLLOW]),
        *_report(job),
    ]


def _made_again_alike(ledger: Ledger, job: Job) -> int:
    """Counters have no types: what is unchanged and no page, such as the entities of one, is counted by its rows."""
    found, after = 0, 0
    where = (("disposition", True, (UNCHANGED,)), ("type", True, (EXTRACT,)))
    while rows := ledger.targets(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        found, after = found + len(rows), rows[-1].id
    return found


def _unchanged(job: Job, n: int) -> str:
    """How many pages the site said are as they were."""
    if not n:
        return "unchanged: none so far" if job.status == "in_progress" else "unchanged: none"
    return f"unchanged: {count_of(n, 'page')}        see: holdfast targets {job.word} --where disposition:{UNCHANGED}"


def _in_part(ledger: Ledger, job: Job, n: int) -> list[str]:
    """Sitemaps and robots.txt that list more than was taken; the first says what."""
    if not n:
        return []
    rows = ledger.targets(job.id, where=[("disposition", True, (IN_PART,))], limit=1)
    first = "".join(f", the first {row.url}: {row.because}" for row in rows)
    return [
        f"taken in part: {count_of(n, 'list')} of URLs{first}        "
        f"see: holdfast targets {job.word} --where disposition:{IN_PART} --json"
    ]


def _asked_to_leave(job: Job, n: int) -> list[str]:
    """How many pages ask for their links not to be followed, and were obeyed."""
    see = f"see: holdfast targets {job.word} --where disposition:{NOFOLLOW}"
    return [f"nofollow: the links of {count_of(n, 'page')} were left, as asked        {see}"] if n else []


def _report(job: Job) -> list[str]:
    """Where to read it; of a job that stopped, what there is of it so far."""
    so_far = "" if job.status == "completed" else " so far"
    return [f"report{so_far}: holdfast report {job.word} --open"] if job.params.get("report") else []
