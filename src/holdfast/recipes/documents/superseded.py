"""Addresses that the list no longer has: the row was corrected, or withdrawn. What was held of them stays; what had
failed is not asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.model.artifact import below
from holdfast.recipes.documents.list_file import ListFile, ListShape
from holdfast.recipes.documents.options import FAILED
from holdfast.recipes.documents.table import ListRefused

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.model.job import Job
    from holdfast.model.target import TargetRow
    from holdfast.ports import Views
    from holdfast.recipe.kind import Conditions

ROWS_AT_ONCE = 500
MOVED = re.compile(r"~[0-9a-f]{8}\Z")  # how a document whose address changed is named in the plan


def names_of(name: str) -> tuple[str, str]:
    """Of a target and of its document: another where the address of the document changed."""
    return name, MOVED.sub("", name)


def failed_of(ledger: Views, job: Job) -> list[TargetRow]:
    return list(_rows(ledger, job, FAILED))


def asked_again(ledger: Views, job: Job, artifacts: Path) -> Conditions:
    """What a run for what is new fetches again: what failed, where the newest list still has its address."""
    failed = failed_of(ledger, job) if len(job.params["versions"]) > 1 else []
    gone = superseded(failed, job, artifacts)
    if not gone:
        return FAILED
    left = tuple(f"T-{row.id:x}" for row in failed if row.id not in gone)
    return (*FAILED, ("id", True, left or ("T-0",)))


def superseded(rows: Sequence[TargetRow], job: Job, artifacts: Path) -> set[int]:
    """The ids of those whose document the newest list does not name any more, or names with another address."""
    versions = job.params["versions"]
    if not rows or len(versions) < 2:  # one list has every address of its plan
        return set()
    by_key: dict[str, list[TargetRow]] = {}
    for row in rows:
        for key in set(names_of(row.name or "")):
            by_key.setdefault(key, []).append(row)
    gone = {row.id for row in rows}
    try:
        listed = ListFile.open(below(artifacts, versions[-1]), ListShape.of(job.params))
        for entry in listed.entries():
            if not entry.is_criminal:
                named = by_key.pop(entry.key, ())  # the first row of a key counts
                gone -= {row.id for row in named if entry.url in ("", row.url)}
    except (OSError, ListRefused):
        return set()  # a list that cannot be read says nothing
    return gone


def others_of(ledger: Views, job: Job, row: TargetRow) -> list[TargetRow]:
    """Targets of the same document under other addresses, in planned order."""
    if len(job.params["versions"]) < 2:
        return []
    key = names_of(row.name or "")[1]
    return [each for each in _rows(ledger, job) if each.id != row.id and key in names_of(each.name or "")]


def _rows(ledger: Views, job: Job, where: Conditions = ()) -> Iterator[TargetRow]:
    after = 0
    while rows := ledger.targets(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id
