"""Exclusions as every surface handles them: foretold, added, removed. Also on a job that is being worked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from holdfast.control.reopen import walked
from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES
from holdfast.model.edit import Exclusion, Place, Swept
from holdfast.model.job import Job
from holdfast.model.target import TargetRow
from holdfast.policy.exclusion import read
from holdfast.ports import Ledger

SAMPLE = 10
ROWS_AT_ONCE = 1000


class ExclusionPreview(msgspec.Struct, frozen=True):
    """What an exclusion would do: leave out so many of the pending targets; results that fit are kept."""

    removes: int
    of_pending: int
    kept_succeeded: int
    sample: tuple[str, ...]


def foretell(ledger: Ledger, job: Job, pattern: str, *, syntax: str) -> ExclusionPreview:
    """A dry run: nothing is changed."""
    fits = read(pattern, syntax).matches
    removes, kept = 0, 0
    sample: list[str] = []
    for row in _rows(ledger, job):
        if not fits(path_of(row)):
            continue
        if row.status == "succeeded":
            kept += 1
            continue
        removes += 1
        if len(sample) < SAMPLE:
            sample.append(row.url)
    return ExclusionPreview(removes, ledger.books(job.id)[1].pending, kept, tuple(sample))


def path_of(row: TargetRow) -> str:
    """Path and query of its URL: what patterns are about."""
    return "/" + row.url.partition("://")[2].partition("/")[2]


def _rows(ledger: Ledger, job: Job) -> Iterator[TargetRow]:
    where = [("status", True, ("pending", "succeeded"))]
    after = 0
    while rows := ledger.targets(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id


def exclude(
    ledger: Ledger, job: Job, pattern: str, *, syntax: str = "glob", this_run: bool = False, actor: str
) -> tuple[Exclusion, int]:
    """Add an exclusion and leave out what is pending: (exclusion, how many). Cut short, the same call goes on."""
    made = repeated(
        lambda: ledger.exclude(job.id, pattern, syntax=syntax, this_run=this_run, actor=actor), tries=VERB_TRIES
    )
    return made, _swept(lambda after: ledger.sweep(job.id, made.n, after=after))


def include(ledger: Ledger, job: Job, n: int, *, actor: str) -> tuple[Exclusion, int]:
    """Remove exclusion n and put back what it had left out: (exclusion, how many).

    If it was cut short, the same call or a worker of the job goes on. The job is not finished before.
    """
    removed = repeated(lambda: ledger.include(job.id, n, actor=actor), tries=VERB_TRIES)
    return removed, walked(ledger, job, "include") or 0


def _swept(step: Callable[[Place], Swept]) -> int:
    """All slices, one commit each; how many targets they changed."""
    changed, left = 0, True
    after: Place = ()
    while left:
        done = _repeated(step, after)
        changed, after, left = changed + done.changed, done.after, done.left
    return changed


def _repeated(step: Callable[[Place], Swept], after: Place) -> Swept:
    return repeated(lambda: step(after), tries=VERB_TRIES)
