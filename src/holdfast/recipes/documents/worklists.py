"""Which cases a run takes on: `full` and `new` (DOC-12, DOC-13, DOC-15). Criminal and inactive cases are in neither."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from holdfast.recipes.documents.versions import Case


class Worklist(msgspec.Struct, frozen=True):
    """`taken` is planned now, in list order; `left` waits for a later run (`--limit`). The others are only counted."""

    taken: tuple[str, ...]
    left: tuple[str, ...]
    held: tuple[str, ...]  # wanted and already there: `already_downloaded`
    criminal: tuple[str, ...]

    @property
    def planned(self) -> int:
        return len(self.taken)


def collectable(cases: Mapping[str, Case]) -> tuple[str, ...]:
    """Active and not criminal: what a complete collection holds."""
    return tuple(key for key, case in cases.items() if case.is_active and not case.entry.is_criminal)


def full(
    cases: Mapping[str, Case], held: Collection[str], *, limit: int | None = None, refetch: bool = False
) -> Worklist:
    """Every case that a complete collection holds; what is held already is not planned again unless `refetch`."""
    return _worklist(cases, collectable(cases), () if refetch else held, limit)


def new(
    cases: Mapping[str, Case], held: Collection[str], current: int, owed: Collection[str], *, limit: int | None = None
) -> Worklist:
    """Cases first seen in the current version, and those `owed`: planned or seen as new by an earlier run, not yet
    held.

    Without the owed ones a crash right after the sync would lose the new cases for ever.
    """
    wanted = tuple(key for key in collectable(cases) if cases[key].first_seen == current or key in owed)
    return _worklist(cases, wanted, held, limit)


def _worklist(cases: Mapping[str, Case], wanted: tuple[str, ...], held: Collection[str], limit: int | None) -> Worklist:
    missing = tuple(key for key in wanted if key not in held)
    cut = len(missing) if limit is None else limit
    return Worklist(
        taken=missing[:cut],
        left=missing[cut:],
        held=tuple(key for key in wanted if key in held),
        criminal=tuple(key for key, case in cases.items() if case.is_active and case.entry.is_criminal),
    )
