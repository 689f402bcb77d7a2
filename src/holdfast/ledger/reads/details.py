"""Targets with all that is known of each: how it was found and settled, its last try, its record, what it carries.

Read for documents that are put together of a whole job, as it is now or as it was when the chunks stood at some commit
numbers: in one transaction, table by table, and joined here. A planner that knows nothing of fresh tables cannot turn
that into a scan per row. What was overwritten since is told by the before-images (verbs/undo).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from holdfast.ledger.reads.targets import unsealed
from holdfast.ledger.tx import Row, Tx
from holdfast.model.look import Detail
from holdfast.model.states import wire_status

Commits = Mapping[str, int]
AT_ONCE = 4_000  # parameters of one statement
_TARGETS = (
    "SELECT id, lane, path, type, state, disposition, rule, code, because, attempts, not_before, gen, found_chunk, "
    "found_no, done_chunk, done_no, last_chunk, last_no FROM target WHERE job = ?"
)
_OPEN = {
    "status": "pending", "disposition": None, "rule": None, "code": None, "because": None, "attempts": 0,
    "not_before": None, "settled_at": None, "record": b"",
}  # fmt: skip
_UNTRIED = (None, None, None, None, 0)
_TRY = ("began_at", "ended_at", "last_code", "message", "size")


Types = Sequence[str] | None  # None: of all types


def details(tx: Tx, job: int, commits: Commits | None, params_of: Types, records_of: Types) -> list[Detail]:
    """All targets of a job by id; with commit numbers those that were known then, as they were."""
    rows = sorted(tx.rows(_TARGETS, (job,)))
    if commits is not None:
        rows = [row for row in rows if _by_then(commits, row[12], row[13])]
    carrying, recorded = (
        [row[0] for row in rows if types is None or row[3] in types] for types in (params_of, records_of)
    )
    known = _Known(tx, job, [row[0] for row in rows], carrying, recorded)
    if commits is not None:
        known.read_images(tx, [row[0] for row in rows])
    return [known.now(row) if commits is None else known.then(row, commits) for row in rows]


class _Known:
    """The tables that tell of these targets, each read once."""

    def __init__(self, tx: Tx, job: int, ids: Sequence[int], carrying: Sequence[int], recorded: Sequence[int]) -> None:
        chunks = [row[0] for row in tx.rows("SELECT id FROM chunk WHERE job = ?", (job,))]
        self._lanes = {row[0]: row[1:] for row in _of(tx, "SELECT id, chunk, origin FROM lane WHERE chunk", chunks)}
        self._at = {row[:2]: row[2] for row in _of(tx, "SELECT chunk, no, at FROM entry WHERE chunk", chunks)}
        self._names: dict[int, str | None] = dict(_of(tx, "SELECT target, name FROM named WHERE target", ids))
        self._params: dict[int, str | None] = dict(_of(tx, "SELECT target, params FROM named WHERE target", carrying))
        self._labels: dict[int, str] = dict(_of(tx, "SELECT target, word FROM label WHERE target", ids))
        records = "SELECT target, gen, doc, seal FROM record WHERE n = 0 AND target"
        self._records = {row[:2]: row[2:] for row in _of(tx, records, recorded)}
        self._tries = {
            row[:3]: row[3:]
            for row in _of(
                tx,
                "SELECT chunk, no, target, gen, n, began_at, ended_at, code, message, bytes, prev_chunk, prev_no "
                "FROM attempt WHERE chunk",
                chunks,
            )
        }
        self._images: dict[int, list[Row]] = {}

    def read_images(self, tx: Tx, ids: Sequence[int]) -> None:
        columns = "target, before, chunk, no, done_chunk, done_no, state"
        for row in _of(tx, f"SELECT {columns} FROM undo WHERE target", ids):
            self._images.setdefault(row[0], []).append(row)

    def now(self, row: Row) -> Detail:
        target, done = row[0], (row[14], row[15])
        chunk, origin = self._lanes[row[1]]
        last = self._tries.get((row[16], row[17], target))
        began, ended, code, message, size = _UNTRIED if last is None else last[2:7]
        return Detail(
            target, chunk, origin + row[2], row[3], wire_status(row[4]), row[5], row[6], row[7], row[8], row[9],
            row[10], self._at.get((row[12], row[13])), self._at.get(done), self._names.get(target) or "",
            self._params.get(target) or "", self._labels.get(target), began, ended, code, message, size,
            self._record(target, row[11]),
        )  # fmt: skip

    def then(self, row: Row, commits: Commits) -> Detail:
        """The row where it was settled by then, else what was overwritten since, else not settled."""
        now = self.now(row)
        if _by_then(commits, row[14], row[15]):
            return now
        detail = msgspec.structs.replace(now, **(self._overwritten(row[0], commits) or _OPEN))
        return self._tried(detail, (row[16], row[17]), commits)

    def _overwritten(self, target: int, commits: Commits) -> dict[str, Any] | None:
        """Of its images beyond the numbers only the oldest can have been settled by then: at most one fits."""
        for _, before, chunk, no, done_chunk, done_no, state in self._images.get(target, ()):
            if not _by_then(commits, chunk, no) and _by_then(commits, done_chunk, done_no):
                image = msgspec.json.decode(bytes(before))
                return {
                    **{name: image[name] for name in ("disposition", "rule", "code", "because", "attempts")},
                    "not_before": image["not_before"],
                    "status": wire_status(state),
                    "settled_at": self._at.get((done_chunk, done_no)),
                    "record": self._record(target, image["gen"]),
                }
        return None

    def _tried(self, detail: Detail, link: tuple[int | None, int | None], commits: Commits) -> Detail:
        """With the last try that had ended by then: its tries are a chain."""
        last = self._tries.get((*link, detail.id))
        while last is not None and not _by_then(commits, *link):
            link = last[7], last[8]
            last = self._tries.get((*link, detail.id))
        values = _UNTRIED if last is None else last[2:7]
        tries = last[1] if last is not None and detail.is_open else detail.attempts
        return msgspec.structs.replace(detail, attempts=tries, **dict(zip(_TRY, values, strict=True)))

    def _record(self, target: int, generation: int) -> bytes:
        found = self._records.get((target, generation))
        return b"" if found is None else unsealed(target, *found)


def _of(tx: Tx, select: str, keys: Sequence[int]) -> Iterator[Row]:
    """The rows whose last named column is one of these keys."""
    for start in range(0, len(keys), AT_ONCE):
        condition, parameters = tx.among(keys[start : start + AT_ONCE])
        yield from tx.rows(f"{select} {condition}", parameters)


def _by_then(commits: Commits, chunk: int | None, no: int | None) -> bool:
    return chunk is not None and no is not None and commits.get(str(chunk), -1) >= no
