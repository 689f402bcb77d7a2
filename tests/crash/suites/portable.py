"""The reader of snapshots as a parser of T13: files that were damaged, and files that were made to deceive.

A damaged file is refused. One whose hashes are all right may say what it likes: it is refused, and the ledger has
nothing of it, or it is restored.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import pytest

from crash.suites.parsers import Parser, Wrong, must
from holdfast.control.restore import Snapshot
from holdfast.control.snapshot import load_zstd
from holdfast.errors import HoldfastError
from holdfast.model.snapshot import Manifest, read_manifest
from snapshots.jobs import repacked, restored, sqlite_ledger, taken, with_bodies, write_jobs

DAMAGED, DECEIVING = 2_000, 30  # inputs in a batch; a restore takes a hundred times as long as a refusal


@contextmanager
def snapshot_parsers(folder: Path) -> Iterator[tuple[Parser, ...]]:
    source = folder / "source"
    source.mkdir()
    with _the_same_ids(), closing(sqlite_ledger(source / "ledger.db")) as ledger:
        job = write_jobs(ledger)["court"]
        stored = taken(ledger, job, with_bodies(ledger, job, source))
    yield Parser("snapshot", Damaged(stored).ask, (stored,), (), DAMAGED), Deceiving(stored, folder).parser()


@contextmanager
def _the_same_ids() -> Iterator[None]:
    """Salts and ids of a ledger are anybody's guess; here a seed must make the same inputs again."""
    source = Random(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", source.randbytes)
        patch.setattr(secrets, "token_hex", lambda count: source.randbytes(count).hex())
        yield


class Damaged:
    def __init__(self, stored: bytes) -> None:
        self._stored = stored

    def ask(self, data: bytes) -> None:
        Snapshot(io.BytesIO(data))
        must(data == self._stored, "a damaged snapshot is taken for whole")


class Deceiving:
    """Inputs are a manifest, or the name of a table and its rows below it; they are sealed before they are read."""

    def __init__(self, stored: bytes, folder: Path) -> None:
        self._stored, self._folder = stored, folder
        snapshot = Snapshot(io.BytesIO(stored))
        self._manifest = snapshot.manifest
        self._tables = {part.table: place for place, part in enumerate(self._manifest.segments)}
        self._rows: dict[str, bytes] = {}
        for shape, rows in snapshot.slices():
            lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
            self._rows[shape.table] = self._rows.get(shape.table, b"") + lines

    def parser(self) -> Parser:
        rows = (table.encode() + b"\n" + lines for table, lines in self._rows.items())
        seeds = (*[msgspec.json.encode(self._manifest)] * 5, *rows)
        return Parser("sealed snapshot", self.ask, seeds, (b"null", b"true", b'""', b"[]", b",0", b"-1"), DECEIVING)

    def ask(self, data: bytes) -> None:
        try:
            file = repacked(self._stored, lambda manifest, files: self._said(data, manifest, files))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            read_manifest(data)  # it has not the form of one, so it cannot be sealed
            raise Wrong("what is no manifest is read as one") from None
        with (
            TemporaryDirectory(dir=self._folder) as made,
            closing(sqlite_ledger((place := Path(made)) / "ledger.db")) as ledger,
        ):
            try:
                restored(ledger, place, file)
            except HoldfastError:
                left = ledger.jobs(), ledger.query("SELECT count(*) FROM target"), list((place / "segments").rglob("*"))
                must(left == ([], [(0,)], []), f"a refused snapshot has left {left}")

    def _said(self, data: bytes, manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        table, _, lines = data.partition(b"\n")
        place = self._tables.get(table.decode("latin-1"))
        if place is None:
            return msgspec.json.decode(data, type=Manifest)
        part = manifest.segments[place]
        packed = files[part.name] = load_zstd().compress(lines)
        changed = msgspec.structs.replace(
            part, rows=len(lines.splitlines()), bytes=len(packed), sha256=sha256(packed).hexdigest()
        )
        segments = (*manifest.segments[:place], changed, *manifest.segments[place + 1 :])
        return msgspec.structs.replace(manifest, segments=segments)
