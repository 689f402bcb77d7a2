"""The lists of a documents job in its snapshot: every version that its plan was made from, and the source's index.

They go with the files of the job, the index last. Elsewhere a list is put in its place like any file. Other jobs may
follow the same source there, so that little of the index is believed: lines about lists that came along, with the bytes
that they are said to have. A source that is followed there already keeps its own index, and learns of versions that
are newer than its own where a person trusts the snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.control.list_store import FOLDER, ListStore
from holdfast.errors import BadParams, Refused
from holdfast.model.job import Job
from holdfast.ports import FileShelf
from holdfast.recipes import catalogue
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.paths import file_name_of_source
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.versions import Version

INDEX_BYTES_MAX = 32 * 1024 * 1024
NUMBER_MAX = 1_000_000_000  # of a version from elsewhere: the next ones are counted from it
_INDEX = re.compile(rf"{FOLDER}/[^/]+\.versions\.json")


class ListCopy(msgspec.Struct, frozen=True):
    """One file beside the rows of a job."""

    path: str
    size: int
    sha256: bytes
    blocks: Callable[[], Iterable[bytes]]


def lists_of(job: Job, files: FileShelf) -> list[ListCopy]:
    """What the plan of a job reads besides the ledger, and versions that it does not know yet; then their index. A list
    that is lost is left out, as it is for the plan."""
    if not catalogue.kind_of(job).has_list:
        return []
    index = _copied(files, index_path(job.params["source"]))
    lines = [] if index is None else _lines(index.blocks())
    paths = dict.fromkeys([*job.params["versions"], *(line.file_path for line in lines if line.valid)])
    found = [*(_copied(files, path) for path in paths), index]
    return [copy for copy in found if copy is not None]


def _copied(files: FileShelf, path: str) -> ListCopy | None:
    size = files.size(path)
    if size is None:
        return None
    if is_index(path):  # it may be replaced by a longer one meanwhile: read once
        content = b"".join(files.blocks(path, size))
        return ListCopy(path, size, sha256(content).digest(), lambda: (content,))
    digest = sha256()
    for block in files.blocks(path, size):
        digest.update(block)
    return ListCopy(path, size, digest.digest(), lambda: files.blocks(path, size))


def index_path(source: str) -> str:
    return f"{FOLDER}/{file_name_of_source(source)}.versions.json"


def is_index(path: str) -> bool:
    return _INDEX.fullmatch(path) is not None


class OfferedVersions(msgspec.Struct, frozen=True):
    """What a snapshot says of the source of its own job."""

    source: str
    shape: ListShape
    lines: list[Version]

    @classmethod
    def of(
        cls, recipe: str, params: Mapping[str, Any], files: Iterable[tuple[str, bytes, Iterable[bytes]]], now_ms: int
    ) -> OfferedVersions | None:
        """None: its job has no list, or no index came with it. The index of any other source is not read."""
        source = params.get("source")
        if not catalogue.is_built_in(recipe) or not catalogue.kind(recipe).has_list or not isinstance(source, str):
            return None
        for path, _, blocks in files:
            if path == index_path(source):
                lines = [_plain(line, now_ms) for line in _lines(blocks) if line.valid and line.source == source]
                return cls(source, ListShape.of(params), lines)
        return None

    def demands(self, store: ListStore) -> tuple[str, ...]:
        """A line, where jobs that follow the source here would be worked by lists of the snapshot."""
        own = store.versions(self.source)
        count = len(self._newer(own)) if own else 0
        return (f"list: adds {count} newer to the lists of {self.source}, which is followed here",) if count else ()

    def learn(self, store: ListStore, came: Mapping[str, str], *, trust: bool) -> None:
        """Take up the lines about lists that `came`: sha256 by path. Other jobs read the index, so this comes last."""
        with store.changing(self.source):
            own = store.versions(self.source)
            if own and not trust:
                return
            there = [line for line in self._newer(own) if came.get(line.file_path) == line.sha256]
            counted = [replace(line, row_count=rows) for line in there if (rows := self._rows(store, line)) is not None]
            for line in _numbered(store, counted):
                store.add(line)

    def _newer(self, own: list[Version]) -> list[Version]:
        newest_ms = max((line.fetched_at_ms for line in own), default=-1)
        return [line for line in self.lines if line.fetched_at_ms > newest_ms]

    def _rows(self, store: ListStore, line: Version) -> int | None:
        """None: it is not a list."""
        try:
            return sound(ListFile.open(store.path(line), self.shape)).rows
        except (ListRefused, BadParams, OSError):
            return None


def _plain(line: Version, now_ms: int) -> Version:
    """Without what only the server of the list can say (with a false ETag a list would never change again), and not
    from the future, where it would be the newest for ever."""
    at_ms = min(max(line.fetched_at_ms, 0), now_ms)
    return replace(line, fetched_at_ms=at_ms, etag="", last_modified="", error_message="")


def _numbered(store: ListStore, lines: list[Version]) -> Iterator[Version]:
    """Their own numbers, in a folder that has given none so high; else none yet, so that the next ones are given."""
    following = store.next_number()
    free = {line.number for line in lines if following <= line.number <= NUMBER_MAX}
    keeps = [line.number for line in lines] == sorted(free)
    for line in lines:
        yield line if keeps else replace(line, number=0)


def _lines(blocks: Iterable[bytes]) -> list[Version]:
    held = bytearray()
    for block in blocks:
        held += block
        if len(held) > INDEX_BYTES_MAX:
            raise Refused("the versions of the list are more than can be copied")
    try:
        return msgspec.json.decode(bytes(held), type=list[Version])
    except msgspec.MsgspecError as error:
        raise Refused(f"the versions of the list cannot be read: {error}") from None
