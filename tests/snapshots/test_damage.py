"""A snapshot that is torn, swapped, cut or made to deceive is refused, and nothing was written (D10, H13)."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from holdfast import wiring
from holdfast.blobs.shelf import SegmentShelf
from holdfast.config import Settings
from holdfast.control.restore import Snapshot
from holdfast.control.snapshot import SEGMENT_BYTES, load_zstd
from holdfast.control.snapshot_file import opened_snapshot
from holdfast.control.tarball import END, TarReader, TarWriter
from holdfast.errors import BadParams, Corrupt, HoldfastError, LedgerUnfit, Refused
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.snapshot import MANIFEST, Manifest, Part
from snapshots.jobs import repacked, restored, sqlite_ledger, taken, with_bodies, write_jobs

EVERY = 31  # of the bytes, one is flipped at a time; a prime, so that every place in a frame is met


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A snapshot with rows and bodies."""
    folder = tmp_path_factory.mktemp("source")
    with closing(sqlite_ledger(folder / "ledger.db")) as ledger:
        job = write_jobs(ledger)["court"]
        return taken(ledger, job, with_bodies(ledger, job, folder))


@pytest.fixture(scope="module")
def rows_only(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A snapshot without bodies: its segments keep the names that they had."""
    with closing(sqlite_ledger(tmp_path_factory.mktemp("rows") / "ledger.db")) as ledger:
        return taken(ledger, write_jobs(ledger)["court"])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    """An empty one, of which nothing may be written."""
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as made:
        yield made


def members_of(stored: bytes) -> dict[str, bytes]:
    members = TarReader(io.BytesIO(stored))
    return {name: b"".join(members.blocks(name)) for name in members.names}


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    packer = TarWriter(out.write)
    for name, content in files.items():
        packer.add(name, len(content), [content])
    packer.end()
    return out.getvalue()


def test_a_flipped_byte_is_found_wherever_it_lies(stored: bytes) -> None:
    Snapshot(io.BytesIO(stored))
    for at in (*range(0, len(stored), EVERY), *range(512), len(stored) - 1):
        flipped = bytearray(stored)
        flipped[at] ^= 0x10
        with pytest.raises(Refused):
            Snapshot(io.BytesIO(bytes(flipped)))


def test_a_snapshot_that_is_cut_off_is_refused_wherever_it_ends(stored: bytes) -> None:
    for end in (0, 1, 511, 512, *range(600, len(stored), 997), len(stored) - 512, len(stored) - 1):
        with pytest.raises(Refused):
            Snapshot(io.BytesIO(stored[:end]))
    with pytest.raises(Refused):
        Snapshot(io.BytesIO(stored + b"more"))


def _swapped(files: dict[str, bytes]) -> dict[str, bytes]:
    first, second = "rows/target-000001.jsonl.zst", "rows/attempt-000001.jsonl.zst"
    return {**files, first: files[second], second: files[first]}


def _without(name: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda files: {each: content for each, content in files.items() if each != name}


DAMAGES: dict[str, tuple[Callable[[dict[str, bytes]], dict[str, bytes]], str]] = {
    "segments swapped": (_swapped, "has not the length|does not have its sha256"),
    "a segment missing": (_without("rows/target-000001.jsonl.zst"), "lacks a file"),
    "no manifest": (_without(MANIFEST), "never finished"),
    "a file too many": (lambda files: {"rows/extra": b"", **files}, "one too many"),
    "a segment cut": (lambda files: {**files, "rows/job-000001.jsonl.zst": b""}, "length"),
    "another order": (lambda files: dict(reversed(files.items())), "order"),
    "an empty manifest": (lambda files: {**files, MANIFEST: b""}, "cannot be read"),
    "a newer form": (
        lambda files: {**files, MANIFEST: files[MANIFEST].replace(b'"schema_version":1', b'"schema_version":2')},
        "form 2, this program knows 1",
    ),
    "a word changed": (
        lambda files: {**files, MANIFEST: files[MANIFEST].replace(b"court", b"crowd")},
        "does not have its own sha256",
    ),
    "spaces between": (lambda files: {**files, MANIFEST: files[MANIFEST].replace(b",", b", ")}, "its own sha256"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_snapshot_is_refused_and_nothing_is_written(
    name: str, stored: bytes, ledger: SqliteLedger, tmp_path: Path
) -> None:
    """SNP-06: also one in a newer form, whatever else is in it."""
    damage, text = DAMAGES[name]
    with pytest.raises(Refused, match=text):
        restored(ledger, tmp_path, packed(damage(members_of(stored))))
    assert_untouched(ledger, tmp_path)


def assert_untouched(ledger: SqliteLedger, folder: Path) -> None:
    assert ledger.jobs() == []
    assert ledger.query("SELECT count(*) FROM target") == [(0,)]
    assert not list((folder / "segments").rglob("*"))


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", bytes(1024), b"\x1f\x8b" + bytes(600), END])
def test_what_is_no_snapshot_is_refused(content: bytes) -> None:
    with pytest.raises(Refused, match="damaged"):
        Snapshot(io.BytesIO(content))


# Somebody who can make a sound file may say in it what he likes.


def _rewritten(manifest: Manifest, files: dict[str, bytes], table: str, change: Callable[[list], object]) -> Manifest:
    """The first row of a table changed, with hashes that fit."""
    [place] = [n for n, part in enumerate(manifest.segments) if part.table == table]
    part = manifest.segments[place]
    rows = [msgspec.json.decode(line) for line in load_zstd().decompress(files[part.name]).splitlines()]
    change(rows[0])
    return _placed(manifest, files, place, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def _placed(manifest: Manifest, files: dict[str, bytes], place: int, lines: bytes) -> Manifest:
    part = manifest.segments[place]
    files[part.name] = load_zstd().compress(lines)
    return _with_part(manifest, place, _described(part, files[part.name]))


def _described(part: Part, content: bytes) -> Part:
    return msgspec.structs.replace(part, bytes=len(content), sha256=sha256(content).hexdigest())


def _with_part(manifest: Manifest, place: int, part: Part) -> Manifest:
    parts = list(manifest.segments)
    parts[place] = part
    return msgspec.structs.replace(manifest, segments=tuple(parts))


def _column(manifest: Manifest, table: str, column: str) -> int:
    [shape] = [each for each in manifest.tables if each.table == table]
    place = shape.place_of(column)
    assert place is not None
    return place


def _set(table: str, column: str, value: object) -> Callable[[Manifest, dict[str, bytes]], Manifest]:
    def change(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        place = _column(manifest, table, column)
        return _rewritten(manifest, files, table, lambda row: row.__setitem__(place, value))

    return change


def _ids_of(table: str, low: int, high: int) -> Callable[[Manifest, dict[str, bytes]], Manifest]:
    return lambda manifest, files: msgspec.structs.replace(manifest, ids={**manifest.ids, table: (low, high)})


def _bodies_named(name: str) -> Callable[[Manifest, dict[str, bytes]], Manifest]:
    def change(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        assert manifest.bodies
        first, *others = manifest.bodies
        files[f"bodies/{name}"] = files.pop(f"bodies/{first.name}")
        return msgspec.structs.replace(manifest, bodies=(*others, msgspec.structs.replace(first, name=name)))

    return change


DECEITS: dict[str, tuple[Callable[[Manifest, dict[str, bytes]], Manifest], type[HoldfastError], str]] = {
    "bodies outside the folder": (_bodies_named("../../evil.warc.gz"), Refused, "name that cannot be used"),
    "bodies of another kind": (_bodies_named("evil.py"), Refused, "name that cannot be used"),
    "an id outside the folder": (
        lambda manifest, files: msgspec.structs.replace(manifest, job_id="../J-7f3a"),
        Refused,
        "name that cannot be used",
    ),
    "a name with an escape in it": (
        lambda manifest, files: msgspec.structs.replace(manifest, name="\x1b[31m"),
        Refused,
        "name that cannot be used",
    ),
    "segments in another order": (
        lambda manifest, files: msgspec.structs.replace(manifest, segments=manifest.segments[::-1]),
        Refused,
        "order",
    ),
    "a text for a number": (_set("target", "depth", "deep"), Refused, "cannot be read"),
    "nothing where something must be": (_set("target", "path", None), Refused, "cannot be read"),
    "a number that no ledger holds": (_set("target", "depth", 1 << 80), Refused, "cannot be read"),
    "another job's chunk": (_set("target", "found_chunk", 1), Corrupt, "not in it"),
    "another job's target": (_set("attempt", "target", 1), Corrupt, "not in it"),
    "a chunk in somebody's hands": (_set("chunk", "owner_pid", 4711), Corrupt, "has an owner"),
    "a target in somebody's hands": (_set("target", "held_epoch", 1), Corrupt, "held by a worker"),
    "a state that is none": (_set("target", "state", 99), LedgerUnfit, "CHECK constraint"),
    "a path that is none": (_set("lane", "origin", "nowhere"), Corrupt, "without an address"),
    "options that are none": (_set("job", "options", "{}}"), Corrupt, "cannot be read"),
    "ids from the end of the world": (_ids_of("target", 1, (1 << 63) - 61), Refused, "no ledger has given"),
    "ids below the first": (_ids_of("target", 0, 9), Refused, "no ledger has given"),
    "ids from high to low": (_ids_of("target", 9, 5), Refused, "no ledger has given"),
    "ids too far from each other": (_ids_of("target", 1, 2 << 40), Refused, "no ledger has given"),
    "ids that its rows do not have": (_ids_of("target", 1, 10_000), Refused, "other ids"),
    "ids of what is no table": (_ids_of("job; DROP TABLE target", 1, 2), Refused, "other ids"),
    "a row with an id that is not declared": (_set("lane", "id", 1 << 50), Refused, "other ids"),
    "a row without an id": (_set("target", "id", 0), Refused, "other ids"),
    "a segment outside the folder": (_set("segment", "name", "J-7f3a/../../x"), Corrupt, "name that cannot be used"),
    "a table that is none": (
        lambda manifest, files: msgspec.structs.replace(manifest, tables=manifest.tables[:-1]),
        Refused,
        "schema",
    ),
}


@pytest.mark.parametrize("name", DECEITS)
def test_what_a_sound_file_says_is_checked_and_nothing_is_written(
    name: str, stored: bytes, ledger: SqliteLedger, tmp_path: Path
) -> None:
    deceit, kind, text = DECEITS[name]
    with pytest.raises(kind, match=text):
        restored(ledger, tmp_path, repacked(stored, deceit))
    assert_untouched(ledger, tmp_path)


def test_what_unpacks_to_more_than_was_ever_packed_is_refused(
    stored: bytes, ledger: SqliteLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.control.unpacking.ROW_BYTES_MAX", 0)
    bomb = repacked(stored, lambda manifest, files: _placed(manifest, files, 0, b" " * (SEGMENT_BYTES + 1)))
    with pytest.raises(Refused, match="larger than it may be"):
        restored(ledger, tmp_path, bomb)
    assert_untouched(ledger, tmp_path)


def test_bodies_are_received_and_a_shorter_segment_is_no_snapshot(
    stored: bytes, ledger: SqliteLedger, tmp_path: Path
) -> None:
    job = restored(ledger, tmp_path, stored)
    [(name,)] = ledger.query("SELECT name FROM segment WHERE job = ?", (job.id,))
    file = tmp_path / "segments" / name
    assert name.startswith(f"{job.uid}/")
    assert file.stat().st_size == 900
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(Corrupt, match="shorter"):
        taken(ledger, job.id, SegmentShelf(tmp_path / "segments"))


@pytest.mark.parametrize("name", ["/etc/passwd", "../ledger.db", "J-7f3a/../../x.warc.gz", "J-7f3a/.publish-1.tmp"])
def test_a_segment_has_no_other_place_than_the_data_folder(
    name: str, rows_only: bytes, ledger: SqliteLedger, tmp_path: Path
) -> None:
    with pytest.raises(Corrupt, match="name that cannot be used"):
        restored(ledger, tmp_path, repacked(rows_only, _set("segment", "name", name)))
    with pytest.raises(Corrupt, match="cannot be a segment's name"):
        list(SegmentShelf(tmp_path / "segments").blocks(name, 1))
    assert wiring.segment_size(Settings(data=tmp_path), name) is None
    assert_untouched(ledger, tmp_path)


def test_a_segment_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    link = tmp_path / "segments" / "J-7f3a" / "w-1.warc.gz"
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    with pytest.raises(BadParams, match="cannot be read"):
        list(SegmentShelf(tmp_path / "segments").blocks("J-7f3a/w-1.warc.gz", 6))


def test_a_stream_is_no_snapshot(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        storage = wiring.storage(Settings(data=tmp_path))
        with pytest.raises(BadParams, match="it is a stream, not a file"), opened_snapshot(storage, tmp_path / "pipe"):
            pass
    finally:
        os.close(writer)


def test_attempts_in_a_circle_come_to_an_end(ledger: SqliteLedger) -> None:
    """As a restored snapshot may say of them."""
    job = write_jobs(ledger)["marsh"]
    with ledger._store.write() as tx:
        tx.run("UPDATE attempt SET prev_chunk = chunk, prev_no = no")
    assert ledger.rollback(job, 1, actor="user", is_dead=lambda owner: True).requeues


def test_any_tar_lists_a_snapshot(stored: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(stored)) as file:
        assert file.getnames()[-1] == MANIFEST
        assert all(member.isfile() for member in file.getmembers())
