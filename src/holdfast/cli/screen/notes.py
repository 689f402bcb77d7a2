"""What people should know when a job ends beyond its books: half a cancel, gaps, a seed that robots.txt forbids or that
leads nowhere, pages whose links were left, code that raised.
"""

from __future__ import annotations

from holdfast.engine.recovery import is_half_cancelled
from holdfast.model.edit import NEW
from holdfast.model.job import Counts, Job
from holdfast.model.outcome import IN_PART, NOFOLLOW, UNCHANGED
from holdfast.model.spelling import as_word, count_of
from holdfast.policy.retry import bare
from holdfast.ports import Ledger
from holdfast.recipe.kind import CASES, SITE
from holdfast.views.documents import retry_command

NO_RECORD = "no_record"
RECIPE_ERROR = "recipe_error"


def notes_on(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    """One line each; none where there is nothing to say."""
    lines = []
    if is_half_cancelled(ledger, job):
        lines.append(f"not carried out yet: {counts.left} still pending. To end it: holdfast cancel {job.word}")
    if job.recipe == CASES and counts.succeeded:
        lines.append(gaps_line(ledger, job))
    if job.generation > 1 and job.recipe == SITE and ledger.mode(job.id) == NEW:
        lines.append(unchanged_line(ledger, job))
    if job.health == "suspicious" and counts.succeeded:
        lines.append(job.because)
    if job.recipe == SITE:
        lines += _in_part(ledger, job)
        lines += _asked_to_leave(ledger, job)
    if counts.skipped_by.get("robots"):
        lines += _forbidden_seed(ledger, job)
    if counts.failed_by.get(RECIPE_ERROR):
        lines += _raised(ledger, job, counts.failed_by[RECIPE_ERROR])
        lines.append(f"after the recipe is mended: {retry_command(job, f'code:{RECIPE_ERROR}')}")
    return lines


def _raised(ledger: Ledger, job: Job, count: int) -> list[str]:
    """What the recipe raised, and on which line: for its author that is the answer, and not that something failed."""
    rows = ledger.targets(job.id, where=[("status", True, ("failed",)), ("code", True, (RECIPE_ERROR,))], limit=1)
    first = "" if count == 1 else ", the first"
    return [f"{RECIPE_ERROR} {count}{first}: {bare(row.because or '', RECIPE_ERROR)}" for row in rows]


def gaps_line(ledger: Ledger, job: Job) -> str:
    """From counters: how many numbers provably have no record."""
    gaps = sum(n for group, _, n in ledger.breakdown(job.id, "disposition") if group == NO_RECORD)
    if not gaps:
        return "gaps: none so far" if job.status == "in_progress" else "gaps: none"
    have = "has" if gaps == 1 else "have"
    return (
        f"gaps: {count_of(gaps, 'number')} {have} no record        "
        f"see: holdfast targets {job.word} --where 'disposition:{NO_RECORD}'"
    )


def unchanged_line(ledger: Ledger, job: Job) -> str:
    """From counters: how many pages the site said are as they were."""
    n = sum(n for group, _, n in ledger.breakdown(job.id, "disposition") if group == UNCHANGED)
    if not n:
        return "unchanged: none so far" if job.status == "in_progress" else "unchanged: none"
    return f"unchanged: {count_of(n, 'page')}        see: holdfast targets {job.word} --where disposition:{UNCHANGED}"


def _in_part(ledger: Ledger, job: Job) -> list[str]:
    """From counters: sitemaps and robots.txt that list more than was taken; the first says what."""
    n = sum(n for group, _, n in ledger.breakdown(job.id, "disposition") if group == IN_PART)
    if not n:
        return []
    rows = ledger.targets(job.id, where=[("disposition", True, (IN_PART,))], limit=1)
    first = "".join(f", the first {row.url}: {row.because}" for row in rows)
    return [
        f"taken in part: {count_of(n, 'list')} of URLs{first}        "
        f"see: holdfast targets {job.word} --where disposition:{IN_PART} --json"
    ]


def _asked_to_leave(ledger: Ledger, job: Job) -> list[str]:
    """From counters: how many pages ask for their links not to be followed, and were obeyed."""
    n = sum(n for group, _, n in ledger.breakdown(job.id, "disposition") if group == NOFOLLOW)
    see = f"see: holdfast targets {job.word} --where disposition:{NOFOLLOW}"
    return [f"nofollow: the links of {count_of(n, 'page')} were left, as asked        {see}"] if n else []


def _forbidden_seed(ledger: Ledger, job: Job) -> list[str]:
    where = [("depth", True, ("0",)), ("disposition", True, ("robots",))]
    rows = ledger.targets(job.id, where=where, limit=1)
    return [
        f"robots.txt forbids the seed {row.url}; see: holdfast explain {job.word} {as_word(row.url)}" for row in rows
    ]
