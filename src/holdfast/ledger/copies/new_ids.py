"""Ids of one ledger as ids of another: in columns, and inside the documents that rows keep.

Ids are moved by one number per table, so that no map of them grows with the job. What points outside the range that
the snapshot declares is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.bookmark import Bookmark, read_bookmark
from holdfast.model.edit import Walk, read_walk
from holdfast.model.record import Checkpoint, Circumstances

FILTERED_BY = {"parent": ("target", "T-"), "chunk": ("chunk", "C-")}  # keys of filters whose values are ids
_undone = msgspec.json.Decoder(dict[str, Any])


class Readdressed(msgspec.Struct, frozen=True):
    """By how much the ids of each table are moved, and the job's own new id."""

    job: int
    by: Mapping[str, int]
    ids: Mapping[str, tuple[int, int]]

    def id(self, table: str, old: int | None) -> int | None:
        """The same thing's id here. None and 0 stand for nothing."""
        return old if old is None or old == 0 else self.known(table, old)

    def known(self, table: str, old: int) -> int:
        low, high = self.ids.get(table, (1, 0))
        if not low <= old <= high:
            raise Corrupt(f"the snapshot names the {table} {old}, which is not in it")
        return old + self.by[table]

    def bookmark(self, stored: bytes) -> bytes:
        mark = read_bookmark(stored)
        commits = {self.known("chunk", chunk): no for chunk, no in mark.commits.items()}
        return Bookmark(commits, self.id("chunk", mark.inside) or 0, mark.rows).encoded()

    def walk(self, stored: bytes) -> bytes:
        return msgspec.json.encode(self.order(read_walk(stored)))

    def order(self, walk: Walk) -> Walk:
        """What a walk puts back."""
        where = tuple((key, wanted, tuple(self._meant(key, a) for a in texts)) for key, wanted, texts in walk.where)
        return msgspec.structs.replace(walk, where=where, commits=self.commits(walk.commits))

    def beside(self, point: Checkpoint) -> Circumstances | None:
        """What stood beside the targets at a checkpoint."""
        if point.beside is None:
            return None
        walks = tuple(msgspec.structs.replace(walk, doc=self.order(walk.doc)) for walk in point.beside.walks)
        return msgspec.structs.replace(point.beside, walks=walks)

    def _meant(self, key: str, value: str) -> str:
        """An id that a filter names; one that is not of this job fits nothing here either."""
        if key not in FILTERED_BY:
            return value
        table, mark = FILTERED_BY[key]
        old = _decoded(lambda: int(value.removeprefix(mark), 16))
        low, high = self.ids.get(table, (1, 0))
        return f"{mark}{old + self.by[table] if low <= old <= high else 0:x}"

    def image(self, stored: bytes) -> bytes:
        """What a named verb overwrote."""
        values = _decoded(lambda: _undone.decode(stored))
        return msgspec.json.encode({**values, "done_chunk": self.id("chunk", values.get("done_chunk"))})

    def commits(self, commits: Mapping[str, int]) -> dict[str, int]:
        return {str(self.known("chunk", int(chunk))): no for chunk, no in commits.items()}


class CheckpointChain:
    """Checkpoints one after another, sealed anew under the new ids. A damaged one stays so, and is found by verify."""

    def __init__(self, ids: Readdressed, *, is_at_home: bool) -> None:
        self._ids, self._is_at_home = ids, is_at_home
        self._was, self._is = b"", b""  # the last one's checksum, in the snapshot and here

    def next(self, stored: bytes, checksum: bytes) -> tuple[bytes, bytes]:
        document, sealed = self._sealed(stored, checksum) or (stored, checksum)
        self._was, self._is = checksum, sealed
        return document, sealed

    def _sealed(self, stored: bytes, checksum: bytes) -> tuple[bytes, bytes] | None:
        if sha256(stored).digest() != checksum:
            return None
        try:
            point = msgspec.json.decode(stored, type=Checkpoint)
            commits, beside = self._ids.commits(point.commits), self._ids.beside(point)
            if beside is not None and not self._is_at_home:  # a trail is made of keys, which are others here
                beside = msgspec.structs.replace(beside, trail=b"")
        except (msgspec.MsgspecError, RecursionError, ValueError, Corrupt):
            return None
        previous = self._is if point.previous == self._was else point.previous
        moved = msgspec.structs.replace(point, job=self._ids.job, commits=commits, beside=beside, previous=previous)
        document = msgspec.json.encode(msgspec.structs.replace(moved, checksum=b""))
        return document, sha256(document).digest()


def _decoded(decode: Callable[[], Any]) -> Any:
    try:
        return decode()
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Corrupt(f"a document in the snapshot cannot be read: {error}") from error
