"""A job on its way from one ledger to another: shapes of its tables, where it stood, what it becomes. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from holdfast.errors import Refused

ID_MAX = (1 << 53) - 1  # every reader of JSON has such a number exactly
IDS_SPAN_MAX = 1 << 40  # from the first to the last id of one job; no ledger has given so many
INT64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
KINDS: dict[str, Any] = {"int": INT64, "text": str, "bytes": bytes}
Slice = tuple["Shape", list[tuple[Any, ...]]]  # rows of one table, in the order of its columns


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str  # of KINDS
    optional: bool


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table that holds rows of a job, column by column."""

    table: str
    columns: tuple[Column, ...]

    def place_of(self, column: str) -> int | None:
        """Where this column stands in a row."""
        names = [each.name for each in self.columns]
        return names.index(column) if column in names else None

    def row_type(self) -> Any:
        """The type of a row, so that nothing is read that the table could not hold."""
        kinds = [KINDS[each.kind] | None if each.optional else KINDS[each.kind] for each in self.columns]
        return tuple[tuple(kinds)]  # type: ignore[misc]


def moved_by(following: int, low: int, high: int) -> int:
    """By how much ids from `low` to `high` are moved where `following` is the next free one. An empty ledger keeps them
    as they are; ids that no ledger has come to are moved down, so that no file can use up the numbers of a ledger."""
    first = max(following, low) if high <= IDS_SPAN_MAX else following
    if first + high - low > ID_MAX:
        raise Refused("this ledger has no ids left for a job of this size; nothing was restored")
    return first - low


class Standing(msgspec.Struct, frozen=True):
    """Where a job stands: equal before and after its rows were read, the rows belong together.

    Commit and event numbers only grow and every write of a job takes one, so equal means that nothing was written.
    """

    ledger: str
    schema_version: int
    held: bool
    marks: tuple[tuple[Any, ...], ...]


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """How a job comes into a ledger. `ids`: per table the lowest and the highest id that its rows had."""

    ledger: str  # the one that the rows were read from
    ids: dict[str, tuple[int, int]]
    uid: str
    name: str
    identity: str | None
    files: Mapping[str, str] = msgspec.field(default_factory=dict)  # path -> where it lies here, where that is another
    segments_under: str | None  # the folder that its bodies lie in now; None: where the rows say
    replaces: tuple[int, ...]  # jobs that give their names up
    actor: str
    because: str
