"""What the list of a job was at each of its versions: its cases, which of them were to be collected, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.artifact import below
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.lists import Entry
from holdfast.recipes.documents.paths import file_name_of_source
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.versions import Case, Version, diff, synced
from holdfast.recipes.documents.worklists import collectable

if TYPE_CHECKING:
    from holdfast.model.job import Job

FOLDER = "csv"


class ListedThen(msgspec.Struct, frozen=True):
    """One version of the list, from `since_ms` on."""

    since_ms: int
    listed: int
    wanted: frozenset[str]


class ListHistory(msgspec.Struct, frozen=True):
    """`cases` are those of the last version, `versions` what people are told of each."""

    cases: dict[str, Case]
    versions: list[dict[str, Any]]
    listed: list[ListedThen]

    def at(self, at_ms: int) -> ListedThen:
        """The list as it was then, or the first one."""
        known = [each for each in self.listed if each.since_ms <= at_ms] or self.listed[:1]
        return known[-1] if known else ListedThen(0, 0, frozenset())


def history_of(job: Job, artifacts: Path) -> ListHistory:
    """Over the versions that the job has."""
    history = ListHistory({}, [], [])
    shape = ListShape.of(job.params)
    index = _index(artifacts, job.params["source"])
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
        history.listed.append(ListedThen(since_ms, active, frozenset(collectable(cases))))
    return msgspec.structs.replace(history, cases=cases)


def first_of_each(listed: ListFile) -> Iterator[Entry]:
    seen: set[str] = set()
    for entry in listed.entries():
        if entry.key not in seen:
            seen.add(entry.key)
            yield entry


def _index(artifacts: Path, source: str) -> dict[str, Version]:
    """By file: its number and when it came, as every other screen says it. Without the index, versions are counted."""
    path = artifacts / FOLDER / f"{file_name_of_source(source)}.versions.json"
    try:
        known: Sequence[Version] = msgspec.json.decode(path.read_bytes(), type=list[Version])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise Corrupt(f"the versions of {source} cannot be read: {path}: {error}") from error
    return {each.file_path: each for each in known if each.valid}
