"""Versions of a list: whether fetched bytes are a new one, a good one, and what became of the cases since the last.

All functions take values and give values; the caller writes the result in one transaction. Laws: unchanged
bytes make no new version; a bad list touches no case; identity is the entry's key; `last_seen` is the last version
that had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from holdfast.recipes.documents.lists import META, DocumentList, Entry
from holdfast.recipes.documents.table import ListRefused

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


class Checked(msgspec.Struct, frozen=True):
    """A fetched list, judged. `listed` is None where it is unchanged or not valid; then `current` is what to work
    with.
    """

    version: Version
    is_new_version: bool
    listed: DocumentList | None
    current: Version | None  # the last good version now, this one included


def last_good(versions: Iterable[Version], source: str) -> Version | None:
    """The newest valid version of that source; versions of other sources are never it."""
    good = [version for version in versions if version.valid and version.source == source]
    return max(good, key=lambda version: version.number, default=None)


def check_version(
    fetched: Version,
    body: bytes | None,
    versions: Sequence[Version],
    read: Callable[[bytes], DocumentList],
    *,
    accept_jump: bool = False,
) -> Checked:
    """Judge what was fetched. `fetched` brings source, times, ETag and, for `body` None, why there is no body.

    Its number, hash, row count and validity are filled in here. A not-modified answer is not handed to this function:
    it is the last good version.
    """
    good = last_good(versions, fetched.source)
    number = 1 + max((version.number for version in versions), default=0)
    if body is None:
        message = fetched.error_message or "the list could not be fetched"
        return _refused(replace(fetched, number=number, sha256=""), message, good)
    digest = sha256(body).hexdigest()
    if good is not None and good.sha256 == digest:
        return Checked(good, is_new_version=False, listed=None, current=good)
    judged = replace(fetched, number=number, sha256=digest)
    try:
        listed = read(body)
        check_sound(listed, good, accept_jump=accept_jump)
    except ListRefused as error:
        return _refused(judged, str(error), good)
    version = replace(judged, row_count=listed.row_count, valid=True, error_message="")
    return Checked(version, is_new_version=True, listed=listed, current=version)


def check_sound(listed: DocumentList, good: Version | None, *, accept_jump: bool = False) -> None:
    """Raise ListRefused for a list that can be read and is still not to be believed."""
    if not listed.entries:
        raise ListRefused("no row of the list names a document")
    header = tuple(listed.table.header)
    if any(tuple(row.cells.values()) == header for row in listed.table.rows):
        raise ListRefused("the header stands in the list twice: it is two lists in one")
    rows = Counter(tuple(row.cells.values()) for row in listed.table.rows)
    if listed.row_count >= JUMP_FROM_ROWS and listed.row_count >= JUMP * len(rows):
        raise ListRefused("every row stands in the list twice")
    if good is None or accept_jump or good.row_count < JUMP_FROM_ROWS:
        return
    if listed.row_count >= JUMP * good.row_count or listed.row_count * JUMP <= good.row_count:
        raise ListRefused(f"the list went from {good.row_count} rows to {listed.row_count} at once")


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


def _refused(version: Version, message: str, good: Version | None) -> Checked:
    version = replace(version, valid=False, error_message=message, row_count=0)
    return Checked(version, is_new_version=False, listed=None, current=good)
