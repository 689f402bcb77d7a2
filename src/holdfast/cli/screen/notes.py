"""What people should know when a job ends beyond its books: half a cancel, what its kind has to say, a seed that
robots.txt forbids, addresses that were refused, code that raised.
"""

from __future__ import annotations

from holdfast.engine.recovery import is_half_cancelled
from holdfast.model.job import Counts, Job
from holdfast.model.spelling import as_word
from holdfast.policy.retry import bare
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of
from holdfast.views.documents import retry_command

RECIPE_ERROR = "recipe_error"
BLOCKED = "blocked_address"
LOOKED_AT = 500  # refused addresses: a summary does not read a hundred thousand rows


def notes_on(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    """One line each; none where there is nothing to say."""
    lines = []
    if is_half_cancelled(ledger, job):
        lines.append(f"not carried out yet: {counts.left} still pending. To end it: holdfast cancel {job.word}")
    lines += kind_of(job).notes(ledger, job, counts)
    if job.health == "suspicious" and counts.succeeded:
        lines.append(job.because)
    if counts.skipped_by.get("robots"):
        lines += _forbidden_seed(ledger, job)
    if counts.failed_by.get(BLOCKED):
        lines += _private(ledger, job, counts.failed_by[BLOCKED])
    if counts.failed_by.get(RECIPE_ERROR):
        lines += _raised(ledger, job, counts.failed_by[RECIPE_ERROR])
        lines.append(f"after the recipe is mended: {retry_command(job, f'code:{RECIPE_ERROR}')}")
    return lines


def _private(ledger: Ledger, job: Job, count: int) -> list[str]:
    """Addresses that one option would let through, unlike those of a cloud's metadata, and how they are had then."""
    rows = ledger.targets(job.id, where=[("status", True, ("failed",)), ("code", True, (BLOCKED,))], limit=LOOKED_AT)
    private = sum("--allow-private" in (row.because or "") for row in rows)
    if not private:
        return []
    some = "" if count <= len(rows) else "at least "
    allow, again = f"holdfast {kind_of(job).command} {job.word} --allow-private", f"holdfast retry {job.word}"
    if job.options.allow_private:
        way = f"They are allowed now: {again}"
    else:  # a failed job tries its seeds again by itself
        way = f"To allow them: {allow}" if job.status == "failed" else f"To allow them: {allow}, then {again}"
    return [f"{some}{private} {'was' if private == 1 else 'were'} not fetched: private addresses. {way}"]


def _raised(ledger: Ledger, job: Job, count: int) -> list[str]:
    """What the recipe raised, and on which line: for its author that is the answer, and not that something failed."""
    rows = ledger.targets(job.id, where=[("status", True, ("failed",)), ("code", True, (RECIPE_ERROR,))], limit=1)
    first = "" if count == 1 else ", the first"
    return [f"{RECIPE_ERROR} {count}{first}: {bare(row.because or '', RECIPE_ERROR)}" for row in rows]


def _forbidden_seed(ledger: Ledger, job: Job) -> list[str]:
    where = [("depth", True, ("0",)), ("disposition", True, ("robots",))]
    rows = ledger.targets(job.id, where=where, limit=1)
    return [
        f"robots.txt forbids the seed {row.url}; see: holdfast explain {job.word} {as_word(row.url)}" for row in rows
    ]
