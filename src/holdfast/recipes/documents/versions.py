"""Versions of a list, and what became of its cases from one to the next.

All functions take values and give values. Laws: identity is the entry's key; `last_seen` is the last version that
had it. `control/list_sync.py` judges what is a version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.recipes.documents.lists import META, Entry

JUMP = 2  # a list that at once doubles or halves is more likely broken than published
JUMP_FROM_ROWS = 20
SOURCES = ("unreported_judgments", "public_registers")


class Version(msgspec.Struct, frozen=True):
    """DOC-03, the row of one fetched list. `number` rises over all sources and is what cases refer to."""

    number: int
    source: str
    sha256: str
    row_count: int
    valid: bool
    error_message: str = ""
    fetched_at_ms: int = 0
    source_url: str = ""
    etag: str = ""
    last_modified: str = ""
    file_path: str = ""
    over_at_ms: int = 0  # of one that is not valid: when the last good list was there again, byte for byte


class Case(msgspec.Struct, frozen=True):
    """A document over the versions: what the list said of it last, and from when to when it was listed (DOC-06)."""

    entry: Entry
    first_seen: int
    last_seen: int
    is_active: bool = True


class FieldChange(msgspec.Struct, frozen=True):
    """One field of one case that a version says otherwise: the history of DOC-06."""

    key: str
    field: str
    before: str
    after: str


class ListDiff(msgspec.Struct, frozen=True):
    """What a version changes, keys in list order. A case is in one of new, returned or neither; it may have changed
    too.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    changes: tuple[FieldChange, ...] = ()


def last_good(versions: Iterable[Version], source: str) -> Version | None:
    """The newest valid version of that source; versions of other sources are never it."""
    good = [version for version in versions if version.valid and version.source == source]
    return max(good, key=lambda version: version.number, default=None)


def problem_of(versions: Sequence[Version]) -> Version | None:
    """Of one source, oldest first: what was fetched last, where it could not be used and that is not over."""
    last = versions[-1] if versions else None
    return None if last is None or last.valid or last.over_at_ms else last


def diff(cases: Mapping[str, Case], entries: Sequence[Entry]) -> ListDiff:
    """What these entries change in the cases of one source; the order of rows changes nothing."""
    listed = {entry.key: entry for entry in entries}
    known = [(cases[key], entry) for key, entry in listed.items() if key in cases]
    changes = tuple(change for case, entry in known for change in _changes(case.entry, entry))
    return ListDiff(
        new=tuple(key for key in listed if key not in cases),
        changed=tuple(dict.fromkeys(change.key for change in changes)),
        removed=tuple(key for key, case in cases.items() if case.is_active and key not in listed),
        returned=tuple(entry.key for case, entry in known if not case.is_active),
        changes=changes,
    )


def synced(cases: Mapping[str, Case], entries: Sequence[Entry], version: int) -> dict[str, Case]:
    """The cases after that version: new ones added, listed ones up to date, the others inactive and otherwise
    untouched.
    """
    after = {key: replace(case, is_active=False) for key, case in cases.items()}
    for entry in entries:
        first = cases[entry.key].first_seen if entry.key in cases else version
        after[entry.key] = Case(entry, first_seen=first, last_seen=version)
    return after


def _changes(before: Entry, after: Entry) -> list[FieldChange]:
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in (*META, "url")]
    found = [FieldChange(after.key, name, old, new) for name, old, new in pairs if old != new]
    # A date that cannot be read changes as it is written.
    if before.judgment_date == after.judgment_date == "" and before.judgment_date_raw != after.judgment_date_raw:
        found.append(FieldChange(after.key, "judgment_date_raw", before.judgment_date_raw, after.judgment_date_raw))
    return found
