"""The files that targets refer to: there, of the size that the ledger says and, where it is asked for, of its hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from holdfast.audit.law import SUCCEEDED, Query

SLICE = 5_000
# Those of the generation that counts: an unchanged target has none of its own, and stands by its last one.
_THAT_COUNT = (
    "FROM target t JOIN artifact f ON f.target = t.id AND f.gen = CASE WHEN t.disposition = 'unchanged' "
    "THEN (SELECT max(k.gen) FROM artifact k WHERE k.target = t.id) ELSE t.gen END "
    f"WHERE t.job = ? AND t.state = {SUCCEEDED} "
)


class StoredFile(msgspec.Struct, frozen=True):
    """A file as its row has it."""

    target: int
    n: int
    path: str
    size: int
    sha256: bytes


class WrongFile(msgspec.Struct, frozen=True):
    """A file that is not what its row says. `size` is None where there is none."""

    row: StoredFile
    size: int | None

    def __str__(self) -> str:
        if self.size is None:
            what = "is missing"
        elif self.size != self.row.size:
            what = f"has {self.size} bytes, not {self.row.size}"
        else:
            what = f"does not have the sha256 {self.row.sha256.hex()}"
        return f"the file {self.row.path} of T-{self.row.target:x} {what}"


def stored_files(query: Query, job: int) -> Iterator[StoredFile]:
    """Every file of a job that counts, slice by slice."""
    after = (0, -1)
    while rows := query(
        f"SELECT t.id, f.n, f.path, f.size, f.sha256 {_THAT_COUNT}AND (t.id, f.n) > (?, ?) "
        f"ORDER BY t.id, f.n LIMIT {SLICE}",
        (job, *after),
    ):
        yield from (StoredFile(target, n, path, size, bytes(digest)) for target, n, path, size, digest in rows)
        after = rows[-1][:2]


def wrong_files(
    query: Query,
    job: int,
    size_of: Callable[[str], int | None],
    is_whole: Callable[[StoredFile], bool] = lambda row: True,
) -> list[WrongFile]:
    """Files of a job that are missing, or have another size than their rows say (F1), or are not whole."""
    looked = ((row, size_of(row.path)) for row in stored_files(query, job))
    return [WrongFile(row, size) for row, size in looked if size != row.size or not is_whole(row)]
