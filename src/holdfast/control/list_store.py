"""Versions of lists, kept durably in the data folder: every list that was ever fetched, with what was thought of it.

`artifacts/csv/<source>_<time>_<hash>.csv` are the lists, `artifacts/csv/<source>.versions.json` says of each one when
it came, from where, whether it is valid (DOC-03). Both are written whole or not at all, the list before its line.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from holdfast.errors import Corrupt
from holdfast.recipes.documents.paths import file_name_of_source, list_path
from holdfast.recipes.documents.versions import Version, last_good, problem_of

FOLDER = "csv"
VERSIONS_KEPT = 10_000
ALL_SOURCES = "all sources"  # no file of a source has a space in its name
WriteFile = Callable[[Path, Callable[[BinaryIO], None]], None]


class ListStore(msgspec.Struct, frozen=True):
    """`artifacts` is the folder of files; `write_file` writes one whole or not at all."""

    artifacts: Path
    write_file: WriteFile

    def versions(self, source: str) -> list[Version]:
        """Of one source, oldest first. Their `file_path` is relative to the artifacts folder."""
        try:
            return msgspec.json.decode(self._index(source).read_bytes(), type=list[Version])
        except FileNotFoundError:
            return []
        except msgspec.DecodeError as error:
            raise Corrupt(f"the versions of {source} cannot be read: {self._index(source)}: {error}") from error

    def sources(self) -> list[str]:
        """Every source that has versions here."""
        found = sorted((self.artifacts / FOLDER).glob("*.versions.json"))
        return [path.name.removesuffix(".versions.json") for path in found]

    def path(self, version: Version) -> Path:
        return self.artifacts / version.file_path

    @contextmanager
    def changing(self, source: str) -> Iterator[None]:
        """One at a time, over all processes: two syncs of one list make one version."""
        with self._locked(file_name_of_source(source)):
            yield

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        folder = self.artifacts / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f".{name}.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def keep_list(self, source: str, body: bytes, digest: str, at_ms: int) -> str:
        """The list's file; its path below the artifacts folder."""
        name = list_path(source, f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y%m%dT%H%M%SZ}", digest)
        self.write_file(self.artifacts / name, lambda file: _write(file, body))
        return name

    def add(self, version: Version) -> Version:
        """Under `changing`; with the next number where it has none. The newest versions are kept in the index, and the
        last good one, however many bad ones came after it; every list's file stays."""
        with self._locked(ALL_SOURCES):  # numbers rise over all of them, and their looks go on side by side
            version = version if version.number else replace(version, number=self.next_number())
            known = [*self.versions(version.source), version]
            kept = known[-VERSIONS_KEPT:]
            good = last_good(known, version.source)
            kept = kept if good is None or good in kept else [good, *kept[1:]]
            self._write_index(version.source, kept)
            return version

    def end_problem(self, source: str, at_ms: int) -> None:
        """Under `changing`: the last good list was there again. Of a source without a problem nothing is written."""
        with self._locked(ALL_SOURCES):
            known = self.versions(source)
            if problem_of(known) is not None:
                self._write_index(source, [*known[:-1], replace(known[-1], over_at_ms=at_ms)])

    def _write_index(self, source: str, versions: list[Version]) -> None:
        content = msgspec.json.format(msgspec.json.encode(versions), indent=1)
        self.write_file(self._index(source), lambda file: _write(file, content))

    def next_number(self) -> int:
        """Numbers rise over all sources."""
        return 1 + max((each.number for source in self.sources() for each in self.versions(source)), default=0)

    def _index(self, source: str) -> Path:
        return self.artifacts / FOLDER / f"{file_name_of_source(source)}.versions.json"


def _write(file: BinaryIO, content: bytes) -> None:
    file.write(content)
