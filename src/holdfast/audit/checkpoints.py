"""The checkpoint chain as the audit reads it: whole, linked, and true to the rows as of each commit vector.

How many were in hand at a past moment is not in the rows, so pending and in progress are compared as one number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate, pairwise

import msgspec

from holdfast.audit.law import Query, Row
from holdfast.model.record import CHECKPOINT_REASONS, Checkpoint
from holdfast.model.states import TARGET, wire_status

SLICE = 10_000
_decoder = msgspec.json.Decoder(Checkpoint)

Progress = dict[tuple[str, str], tuple[list[int], list[int]]]  # (status, chunk) -> commit numbers, how many up to each


def broken_chain(query: Query, job: int) -> list[Row]:
    return list(_breaks(job, _stored(query, job)))


def _stored(query: Query, job: int) -> list[Row]:
    """(number, at, doc, checksum, undone_by)."""
    return query("SELECT number, at, doc, checksum, undone_by FROM checkpoint WHERE job = ? ORDER BY number", (job,))


def _breaks(job: int, stored: list[Row]) -> Iterator[Row]:
    for expected, (number, *_) in enumerate(stored, 1):
        if number != expected:
            yield number, f"its place in the chain is {expected}"
            break
    points = [_read(row) for row in stored]
    for row, point in zip(stored, points, strict=True):
        if point is None:
            yield row[0], "it is damaged"
        elif (point.job, point.number, point.at) != (job, *row[:2]) or point.reason not in CHECKPOINT_REASONS:
            yield row[0], "its document says something else than its row"
    for before, after, point in zip([None, *stored], stored, points, strict=False):
        if point is not None and point.previous != (b"" if before is None else bytes(before[3])):
            yield after[0], "it does not name its predecessor's checksum"
    whole = [point for point in points if point is not None]
    yield from ((after.number, "it goes back") for before, after in pairwise(whole) if _goes_back(before, after))
    yield from _wrong_marks(stored, points)


def _wrong_marks(stored: list[Row], points: list[Checkpoint | None]) -> Iterator[Row]:
    """A rollback marks what it undid with its own checkpoint, and only what lies before that."""
    rollbacks = {point.number for point in points if point is not None and point.reason == "rollback"}
    damaged = {row[0] for row, point in zip(stored, points, strict=True) if point is None}
    for number, *_, undone_by in stored:
        if undone_by is not None and (undone_by <= number or undone_by not in rollbacks | damaged):
            yield number, f"it is marked as undone by {undone_by}, which is not a later rollback"
    standing = [point for row, point in zip(stored, points, strict=True) if point is not None and row[4] is None]
    yield from (
        (after.number, "its generation goes back")
        for before, after in pairwise(standing)
        if after.generation < before.generation
    )


def _read(row: Row) -> Checkpoint | None:
    """A stored checkpoint, None where it is not what was sealed."""
    try:
        document, checksum = bytes(row[2]), bytes(row[3])
        bare = _decoder.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):  # SQLite keeps text in a blob column
        return None
    whole = sha256(document).digest() == checksum  # the bytes: a damaged name of a field with its default decodes alike
    return msgspec.structs.replace(bare, checksum=checksum) if whole else None


def _goes_back(before: Checkpoint, after: Checkpoint) -> bool:
    fallen = any(after.commits.get(chunk, -1) < no for chunk, no in before.commits.items())
    return fallen or after.active_ms < before.active_ms


def wrong_counts(query: Query, job: int) -> list[Row]:
    """What stood at or before a checkpoint's commit numbers does not change any more, so it may be read afterwards.

    What was overwritten since is in the undo rows; what a rollback undid is nowhere, and is not asked for.
    """
    stored = [row for row in _stored(query, job) if row[4] is None]
    points = [point for row in stored if (point := _read(row)) is not None]
    progress = _progress(query, job) if points else {}
    return [row for point in points for row in _differences(point, progress)]


def _progress(query: Query, job: int) -> Progress:
    per_commit: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for chunk, no, n in query(
        "SELECT found_chunk, found_no, count(*) FROM target WHERE job = ? GROUP BY found_chunk, found_no", (job,)
    ):
        per_commit["discovered", str(chunk)].append((no, n))
    for chunk, no, state, n in query(
        "SELECT done_chunk, done_no, state, count(*) FROM target WHERE job = ? AND done_no IS NOT NULL "
        "GROUP BY done_chunk, done_no, state",
        (job,),
    ):
        per_commit[wire_status(state), str(chunk)].append((no, n))
    for chunk, no, status, n in _overwritten(query, job):
        per_commit[status, str(chunk)].append((no, n))
    return {key: _summed(sorted(pairs)) for key, pairs in per_commit.items()}


def _overwritten(query: Query, job: int) -> Iterator[tuple[int, int, str, int]]:
    """A settled target that was put back counted from the commit that settled it up to the one that put it back."""
    after = 0
    while rows := query(
        "SELECT u.target, u.chunk, u.no, u.state, u.done_chunk, u.done_no FROM undo u "
        "JOIN chunk c ON c.id = u.chunk WHERE c.job = ? AND u.target > ? "
        f"ORDER BY u.target, u.chunk, u.no LIMIT {SLICE}",
        (job, after),
    ):
        last = rows[-1][0]
        # A target that was put back several times may be cut: its rows come again, from the first one on.
        whole = rows if len(rows) < SLICE else [row for row in rows if row[0] != last]
        for _, chunk, no, state, done_chunk, done_no in whole:
            if done_chunk is not None and done_no is not None:
                yield done_chunk, done_no, wire_status(state), 1
                yield chunk, no, wire_status(state), -1
        if len(rows) < SLICE:
            return
        after = last - 1


def _summed(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [no for no, _ in pairs], list(accumulate(n for _, n in pairs))


def _differences(point: Checkpoint, progress: Progress) -> Iterator[Row]:
    settled = sorted(TARGET.final)
    said = {name: getattr(point.counts, name) for name in ("discovered", *settled)}
    true = {name: _as_of(point, progress, name) for name in said}
    said["left"] = point.counts.pending + point.counts.in_progress
    true["left"] = true["discovered"] - sum(true[name] for name in settled)
    for name, n in said.items():
        if n != true[name]:
            yield point.number, name, n, true[name], f"the rows say {true[name]} {name}, the checkpoint {n}"


def _as_of(point: Checkpoint, progress: Progress, name: str) -> int:
    total = 0
    for chunk, no in point.commits.items():
        numbers, sums = progress.get((name, chunk), ([], []))
        upto = bisect_right(numbers, no)
        total += sums[upto - 1] if upto else 0
    return total
