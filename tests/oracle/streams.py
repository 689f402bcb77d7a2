"""Results in the order of their commits, in memory, and the bookmarks of their readers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from holdfast.model.bookmark import Bookmark, EndedTarget, Fresh
from holdfast.policy.filters import Condition, matches, resolved
from oracle.books import read_job
from oracle.reads import result_of, row_of
from oracle.state import Tables

ENDS = ("succeeded", "skipped", "failed")


def fresh(
    tables: Tables, job: int, mark: Bookmark, where: Sequence[Condition], limit: int
) -> tuple[list[Fresh], Bookmark]:
    """All behind the bookmark at once, chunk by chunk."""
    read_job(tables, job)
    heads = {chunk.id: chunk.no for chunk in tables.chunks.values() if chunk.job == job and chunk.kind == "work"}
    found: list[Fresh] = []
    commits = dict(mark.commits)
    for chunk in sorted(heads, key=lambda chunk: mark.commits.get(chunk, 0)):
        read = mark.commits.get(chunk, 0)
        if len(found) >= limit or heads[chunk] <= read:
            continue
        skip = mark.rows if chunk == mark.inside else 0
        rows = _of_chunk(tables, chunk, where)
        found += [each for each in rows if each.no > read + 1 or (each.no == read + 1 and each.place >= skip)]
        commits[chunk] = heads[chunk]
    return found, Bookmark(commits)


def _of_chunk(tables: Tables, chunk: int, where: Sequence[Condition]) -> list[Fresh]:
    keys = sorted(
        (by[1], *key)
        for key, by in tables.record_by.items()
        if by[0] == chunk and tables.attempts[chunk, by[1], key[0]].outcome == "succeeded"
    )
    conditions = resolved(where, tables.at.wall_ms)
    found: list[Fresh] = []
    for no, group in groupby(keys, key=lambda key: key[0]):
        for place, (_, target, generation, n) in enumerate(group):
            if matches(row_of(tables, tables.targets[target]), conditions):
                found.append(Fresh(chunk, no, place, result_of(tables, tables.targets[target], n, generation)))
    return found


def ended(tables: Tables, job: int, mark: Bookmark, limit: int) -> tuple[list[EndedTarget], Bookmark]:
    """All behind the bookmark at once, chunk by chunk."""
    heads = everything(tables, job).commits
    found: list[EndedTarget] = []
    for (chunk, no, target), row in sorted(tables.attempts.items(), key=lambda item: item[0]):
        state = tables.targets[target]
        poisoned = row.outcome == "lost" and row.code == "poison"  # its last death was its end
        is_end = poisoned or row.outcome in ENDS
        if state.job == job and chunk in heads and no > mark.commits.get(chunk, 0) and is_end:
            found.append(
                EndedTarget(
                    chunk=chunk, no=no, target=target, url=state.url, outcome="failed" if poisoned else row.outcome,
                    disposition=state.disposition if state.settled_by == (chunk, no) else None, code=row.code,
                    status_code=row.status_code, message=row.message, attempt=row.n, at=row.ended_at,
                )
            )  # fmt: skip
    return found, Bookmark(heads)


def everything(tables: Tables, job: int) -> Bookmark:
    return Bookmark(
        {chunk.id: chunk.no for chunk in tables.chunks.values() if (chunk.job, chunk.kind) == (job, "work")}
    )


def bookmark(tables: Tables, job: int, consumer: str) -> Bookmark:
    return tables.bookmarks.get((job, consumer), Bookmark())


def save_bookmark(tables: Tables, job: int, consumer: str, mark: Bookmark) -> Bookmark:
    read_job(tables, job)
    further = mark.behind(bookmark(tables, job, consumer))
    tables.bookmarks[job, consumer] = further
    return further
