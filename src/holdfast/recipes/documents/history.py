"""What the list of a job was at each of its versions: its cases, which of them were to be collected, and since when."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.artifact import below
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.lists import Entry
from holdfast.recipes.documents.paths import file_name_of_source
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.versions import Case, Version, diff, problem_of, synced
from holdfast.recipes.documents.worklists import collectable

if TYPE_CHECKING:
    from holdfast.model.job import Job

FOLDER = "csv"


class ListedThen(msgspec.Struct, frozen=True):
    """One version of the list, from `since_ms` on; `listed` and `wanted` are counts."""

    since_ms: int
    listed: int
    wanted: int


class ListHistory(msgspec.Struct, frozen=True):
    """`cases` are those of the last version, `versions` what people are told of each.

    `turns` has for each document the places in `listed` at which it came to be wanted and ceased to be, by turns.
    """

    cases: dict[str, Case]
    versions: list[dict[str, Any]]
    listed: list[ListedThen]
    turns: dict[str, tuple[int, ...]]
    refused: Version | None = None  # what was fetched last, where it could not be used: an earlier version serves

    def at(self, at_ms: int) -> ListedThen:
        """The list as it was then, or the first one."""
        return self.listed[self._place(at_ms)] if self.listed else ListedThen(0, 0, 0)

    def held(self, held_ms: Mapping[str, int], moments: Iterable[int]) -> dict[int, int]:
        """How many of the documents that were wanted at each moment had been held by then."""
        ordered = sorted(set(moments))
        places = [self._place(at_ms) for at_ms in ordered]  # they rise, too
        steps = [0] * (len(ordered) + 1)
        for key, turns in self.turns.items():
            if key not in held_ms:
                continue
            first = bisect_left(ordered, held_ms[key])
            for begins, ends in zip_longest(turns[::2], turns[1::2], fillvalue=len(self.listed)):
                low, high = max(first, bisect_left(places, begins)), bisect_left(places, ends)
                if low < high:
                    steps[low] += 1
                    steps[high] -= 1
        return dict(zip(ordered, accumulate(steps), strict=False))

    def _place(self, at_ms: int) -> int:
        places = range(len(self.listed) - 1, -1, -1)
        return next((place for place in places if self.listed[place].since_ms <= at_ms), 0)


def history_of(job: Job, artifacts: Path) -> ListHistory:
    """Over the versions that the job has."""
    history = ListHistory({}, [], [], {})
    shape = ListShape.of(job.params)
    every = _versions(artifacts, job.params["source"])
    index = {each.file_path: each for each in every if each.valid}
    cases: dict[str, Case] = {}
    for place, name in enumerate(job.params["versions"], start=1):
        known = index.get(name)
        number = known.number if known else place
        try:
            listed = ListFile.open(below(artifacts, name), shape)
            entries, sounded = {entry.key: entry for entry in first_of_each(listed)}, sound(listed)
        except (OSError, ListRefused) as error:
            history.versions.append({"version": number, "file": name, "error": str(error)})
            continue
        changed = diff(cases, tuple(entries.values()))
        cases = synced(cases, tuple(entries.values()), number)
        counts = {word: len(getattr(changed, word)) for word in ("new", "changed", "removed", "returned")}
        rows = {"rows": sounded.rows + sounded.skipped, "left_out": sounded.left_out}
        history.versions.append({"version": number, "file": name, "documents": len(entries), **rows, **counts})
        active = sum(case.is_active for case in cases.values())
        since_ms = known.fetched_at_ms if known else 0
        history.listed.append(ListedThen(since_ms, active, _turn(history, cases)))
    return msgspec.structs.replace(history, cases=cases, refused=problem_of(every))


def _turn(history: ListHistory, cases: Mapping[str, Case]) -> int:
    """Take down which documents are wanted from here on, or not any more; how many are."""
    wanted, here = set(collectable(cases)), (len(history.listed),)
    for key in cases:
        turns = history.turns.get(key, ())
        if (key in wanted) != len(turns) % 2:
            history.turns[key] = turns + here if turns else here
    return len(wanted)


def first_of_each(listed: ListFile) -> Iterator[Entry]:
    seen: set[str] = set()
    for entry in listed.entries():
        if entry.key not in seen:
            seen.add(entry.key)
            yield entry


def _versions(artifacts: Path, source: str) -> Sequence[Version]:
    """Their numbers and when they came, as every other screen says it. Without the index, versions are counted."""
    path = artifacts / FOLDER / f"{file_name_of_source(source)}.versions.json"
    try:
        known: Sequence[Version] = msgspec.json.decode(path.read_bytes(), type=list[Version])
    except FileNotFoundError:
        return ()
    except msgspec.DecodeError as error:
        raise Corrupt(f"the versions of {source} cannot be read: {path}: {error}") from error
    return known
