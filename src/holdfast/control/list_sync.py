"""Syncing a list: look at its file or its URL, judge what came, keep it as a version, and say what serves now.

A list that cannot be had or is not to be believed is kept too, as invalid, touches nothing, and the last good one
serves (DOC-04). Unchanged bytes make no new version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from holdfast.clock import Clock
from holdfast.control.list_look import Got
from holdfast.control.list_store import ListStore
from holdfast.errors import BadParams, ListUnavailable
from holdfast.model.artifact import below
from holdfast.recipes.documents.list_file import ListFile, ListShape, Sounding, sound
from holdfast.recipes.documents.planning import planned
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.versions import JUMP, JUMP_FROM_ROWS, Version, last_good, problem_of


class Synced(msgspec.Struct, frozen=True):
    """`version` serves now. `told` is what people should know of this look, "" where there is nothing."""

    version: Version
    is_new_version: bool
    told: str = ""
    documents: int | None = None  # that a plan over this version alone has, where all of it was just read


def sync(
    store: ListStore,
    source: str,
    place: str,
    shape: ListShape,
    look: Callable[[Version | None], Got],
    clock: Clock,
    *,
    check: Callable[[ListFile], None] = lambda listed: None,
    refuse: Callable[[ListFile], None] = lambda listed: None,
    require_fresh: bool = False,
    accept_jump: bool = False,
) -> Synced:
    """`check` raises BadParams where the list cannot be used as it is asked for. So does this function for a first
    list that is none: it was typed, and nothing of it is kept. `refuse` raises it where a good list is not to be worked
    as it is asked for: a new version is not kept then. ListUnavailable: there is no list to work with, because the
    first one could not be had, or, with `require_fresh`, none that is good now (decision 0100)."""
    with store.changing(source):
        versions = store.versions(source)
        good = _serving(store, versions, source)
        got = look(good)
        if good is not None and (got.is_unchanged or (got.body and sha256(got.body).hexdigest() == good.sha256)):
            check(listed := ListFile.open(store.path(good), shape))
            refuse(listed)
            store.end_problem(source, clock.wall_ms())
            return Synced(good, is_new_version=False)
        fetched = Version(
            number=0, source=source, sha256="", row_count=0, valid=False, source_url=place,
            fetched_at_ms=clock.wall_ms(), etag=got.etag, last_modified=got.last_modified,
        )  # fmt: skip
        judged, sounded = _judged(store, fetched, got, good, shape, check, accept_jump=accept_jump)
        if judged.valid:
            _unless_refused(store, judged, shape, refuse)
            judged = store.add(judged)
            count = sounded.documents - sounded.criminal
            return Synced(judged, is_new_version=True, told=told_of(place, sounded), documents=count)
        if good is None and not got.is_away:
            if judged.file_path:
                store.path(judged).unlink(missing_ok=True)
            raise BadParams(f"{place}: {judged.error_message}", hint=_hint(judged, good))
        _record_bad(store, judged, versions[-1:])
        problem = f"{place}: {got.told or judged.error_message}"
        if good is None or require_fresh:
            raise ListUnavailable(problem, hint=_hint(judged, good))
        refuse(ListFile.open(store.path(good), shape))
        since = f"{good.row_count} rows, version {good.number}"
        return Synced(good, is_new_version=False, told=f"{problem}; the last good list serves ({since})")


def _unless_refused(store: ListStore, version: Version, shape: ListShape, refuse: Callable[[ListFile], None]) -> None:
    try:
        refuse(ListFile.open(store.path(version), shape))
    except BadParams:
        store.path(version).unlink(missing_ok=True)
        raise


def _record_bad(store: ListStore, judged: Version, last: Sequence[Version]) -> None:
    """Once: the same bytes, or the same silence, at every look make one version."""
    said = problem_of(last)
    if said is not None and (said.sha256, said.error_message) == (judged.sha256, judged.error_message):
        if judged.file_path and judged.file_path != said.file_path:
            store.path(judged).unlink(missing_ok=True)
        return
    store.add(judged)


def told_of(place: str, sounded: Sounding) -> str:
    """Rows of a list that give no target are not rows of the job, so they are told here."""
    said = []
    if sounded.left_out:
        said.append(f"{place}: left out of {sounded.rows + sounded.skipped} rows: {sounded.left_out}")
    if sounded.tall is not None:
        line, height = sounded.tall
        said.append(f'{place}: line {line} ends a cell of {height} lines: perhaps a quote (") too many took rows in')
    return "\n".join(said)


def _serving(store: ListStore, versions: Sequence[Version], source: str) -> Version | None:
    """The last good version whose file is there."""
    there = [version for version in versions if version.valid and store.path(version).is_file()]
    return last_good(there, source)


def _judged(
    store: ListStore,
    fetched: Version,
    got: Got,
    good: Version | None,
    shape: ListShape,
    check: Callable[[ListFile], None],
    *,
    accept_jump: bool,
) -> tuple[Version, Sounding]:
    if got.body is None:
        return replace(fetched, error_message=got.error or "the list could not be fetched"), Sounding()
    digest = sha256(got.body).hexdigest()
    name = store.keep_list(fetched.source, got.body, digest, fetched.fetched_at_ms)
    version = replace(fetched, sha256=digest, file_path=name)
    try:
        listed = ListFile.open(store.path(version), shape)
        check(listed)
        sounded = sound(listed)
        _refuse_unsound(sounded, good, accept_jump=accept_jump)
    except ListRefused as error:
        return replace(version, error_message=str(error)), Sounding()
    except BadParams as error:
        if good is None:  # a wrong option, not a wrong list
            store.path(version).unlink()
            raise
        return replace(version, error_message=error.message), Sounding()
    return replace(version, valid=True, row_count=sounded.rows), sounded


def _refuse_unsound(sounded: Sounding, good: Version | None, *, accept_jump: bool) -> None:
    """For a list that can be read and is still not to be believed."""
    if not sounded.documents:
        raise ListRefused("no row of the list names a document")
    if sounded.header_again:
        raise ListRefused("the header stands in the list twice: it is two lists in one")
    if sounded.rows >= JUMP_FROM_ROWS and sounded.rows >= JUMP * sounded.distinct_rows:
        raise ListRefused("every row stands in the list twice")
    if good is None or accept_jump or good.row_count < JUMP_FROM_ROWS:
        return
    if sounded.rows >= JUMP * good.row_count or sounded.rows * JUMP <= good.row_count:
        raise ListRefused(f"the list went from {good.row_count} rows to {sounded.rows} at once")


def _hint(judged: Version, good: Version | None) -> str:
    if "none with addresses" in judged.error_message:
        return "--columns url=COLUMN, where a column has the addresses of the files"
    if "at once" in judged.error_message:
        return "--accept-jump, where the list has really changed so much"
    return "" if good is None else f"without --require-fresh the list of version {good.number} serves"


def count_planned(store: ListStore, names: Sequence[str], shape: ListShape) -> int:
    """How many documents a plan over these versions has."""
    paths = [below(store.artifacts, name) for name in names]
    if len(paths) == 1:
        counts = sound(ListFile.open(paths[0], shape))
        return counts.documents - counts.criminal
    return sum(1 for _ in planned(paths, shape))
