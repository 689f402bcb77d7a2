"""The portable form of a job: all of its rows and its stored bodies in one file that any ledger can take in.

Rows are read in short slices, each a transaction of its own, so that no writer waits for the reader. They
belong together if the job stands the same before and after: no worker may work it meanwhile, and nothing is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from holdfast.clock import iso
from holdfast.control.list_copies import ListCopy, lists_of
from holdfast.control.losses import LOST_FILE, Losses, LostFiles, every_page
from holdfast.control.tarball import TarWriter
from holdfast.engine.liveness import is_dead
from holdfast.engine.recovery import acknowledged, holder_of
from holdfast.errors import Corrupt, Refused
from holdfast.model.job import Job
from holdfast.model.portable import Shape
from holdfast.model.snapshot import FORMAT, JOBS_INLINE_MAX, MANIFEST, MANIFEST_BYTES_MAX, Brief, Cursor, Manifest, Part
from holdfast.model.states import TARGET, wire_status
from holdfast.ports import FileShelf, Ledger, Shelf

SEGMENT_BYTES = 4 * 1024 * 1024  # of rows before they are compressed
ZSTD_LEVEL = 3
ROWS_AT_ONCE = 1_000
BODIES = "bodies/"
FILES = "files/"  # numbered: a path may be longer than a name in a tar


def write(
    ledger: Ledger,
    shelf: Shelf | None,
    job: Job,
    out: Callable[[bytes], object],
    *,
    at_ms: int,
    files: FileShelf | None = None,
) -> Manifest:
    """Write a job as it stands. Without shelves its stored bodies and files are left out: its rows alone.

    Refused while a process works it, or if something was written to it meanwhile: then `out` has no manifest.
    """
    job = at_rest(ledger, job)
    before = ledger.standing(job.id)
    if before.held:
        raise _worked(job, "another process")
    packer, tables, census = TarWriter(out), ledger.shapes(), Census(Losses(shelf), LostFiles(files))
    segments = [part for shape in tables for part in _segments(packer, _rows(ledger, job, shape, census), shape)]
    if census.losses:
        _demand_needed(ledger, job, tables, census)
    if files is not None:
        census.leave_out_spoiled(census.lost_files.needed(ledger, job.id))
    bodies = None if shelf is None else tuple(_bodies(packer, shelf, census))
    packed = () if files is None else tuple(_files(packer, files, job, census))
    job, counts, point = ledger.books(job.id)
    if ledger.standing(job.id) != before:
        raise Refused(f"{job.name} was changed while it was read", hint="run the same command again")
    manifest = Manifest(
        schema_version=FORMAT,
        id=f"S-{at_ms:x}",
        job_id=job.uid,
        name=job.name,
        recipe=job.recipe,
        identity=job.identity,
        status=job.status,
        run_id=f"R-{job.run}" if job.run else None,
        seq=None if point is None else point.number,
        counts=counts.seven(),
        cursor=Cursor(last_job_id=census.last_settled, last_job_index=census.settled),
        jobs=None if census.targets > JOBS_INLINE_MAX else tuple(census.briefs),
        ledger=before.ledger,
        ledger_schema=before.schema_version,
        ids=census.ids,
        tables=tables,
        segments=tuple(segments),
        bodies=bodies,
        bodies_lost=len(census.losses) + len(census.lost_files) or msgspec.UNSET,
        files=packed or msgspec.UNSET,
        updated_at=str(iso(at_ms)),
    ).sealed()
    if len(manifest.encoded()) > MANIFEST_BYTES_MAX:
        raise Refused(f"{len(packed)} files are more than one snapshot can list", hint="--without-artifacts")
    packer.add(MANIFEST, len(manifest.encoded()), [manifest.encoded()])
    packer.end()
    return manifest


def at_rest(ledger: Ledger, job: Job) -> Job:
    """The job with nothing in anybody's hands: what the dead held is put back, a pause or cancel they owed is taken."""
    owner = holder_of(ledger, job)
    if owner is not None:
        raise _worked(job, str(owner))
    if job.requested is not None:
        acknowledged(ledger, job)
    elif ledger.holders(job.id):
        ledger.rescue(job.id, is_dead=is_dead)
    return ledger.job(job.id)


def _worked(job: Job, owner: str) -> Refused:
    return Refused(f"{job.name} is being worked by {owner}", hint=f"holdfast pause {job.word}, then the same again")


class Census:
    """What the manifest says of the rows that pass; nothing in it grows with the job but ends and files."""

    def __init__(self, losses: Losses, lost_files: LostFiles) -> None:
        self.losses, self.lost_files = losses, lost_files
        self.stored: dict[str, tuple[int, bytes]] = {}  # path -> size and hash of a file that is to be in the snapshot
        self.ids: dict[str, tuple[int, int]] = {}
        self.ends: dict[int, int] = {}  # segment -> where the last body ends that is to be in the snapshot
        self.files: dict[int, str] = {}
        self.briefs: list[Brief] = []
        self.targets, self.settled = 0, 0
        self.last_settled: str | None = None

    def see(self, shape: Shape, row: tuple[Any, ...]) -> None:
        if (place := shape.place_of("id")) is not None:
            low, high = self.ids.get(shape.table, (row[place], row[place]))
            self.ids[shape.table] = (min(low, row[place]), max(high, row[place]))
        look = {"segment": self._segment, "target": self._target, "body": self._body, "artifact": self._file}
        if shape.table in look:
            look[shape.table](_named(shape, row))

    def _segment(self, row: dict[str, Any]) -> None:
        self.files[row["id"]] = row["name"]

    def _body(self, row: dict[str, Any]) -> None:
        if not self.losses.has(self.files.get(row["segment"], ""), row):
            self.demand(row["segment"], row["off"] + row["len"])

    def _file(self, row: dict[str, Any]) -> None:
        if not self.lost_files.has(row["path"], row["size"]):
            self.stored[row["path"]] = row["size"], bytes(row["sha256"])

    def leave_out_spoiled(self, needed: set[str]) -> None:
        """Files of earlier fetches that are not what was stored. Those of results are compared as they are packed."""
        for path, (size, digest) in tuple(self.stored.items()):
            if path not in needed and self.lost_files.is_spoiled(path, size, digest):
                del self.stored[path]

    def demand(self, segment: int, end: int) -> None:
        self.ends[segment] = max(self.ends.get(segment, 0), end)

    def _target(self, row: dict[str, Any]) -> None:
        status, name = wire_status(row["state"]), f"T-{row['id']:x}"
        if self.settled == self.targets and status in TARGET.final:
            self.settled, self.last_settled = self.settled + 1, name
        self.targets += 1
        if self.targets <= JOBS_INLINE_MAX:
            error = row["code"] and f"{row['code']}: {row['because'] or ''}".rstrip(": ")
            self.briefs.append(Brief(job_id=name, state=status, attempts=row["attempts"], last_error=error))


def _rows(ledger: Ledger, job: Job, shape: Shape, census: Census) -> Iterator[bytes]:
    """The rows of one table as lines of JSON, in the order of its columns."""
    for row in _copied(ledger, job, shape):
        census.see(shape, row)
        yield msgspec.json.encode(row) + b"\n"


def _copied(ledger: Ledger, job: Job, shape: Shape) -> Iterator[tuple[Any, ...]]:
    after: tuple[object, ...] | None = ()
    while after is not None:
        rows, after = ledger.copy_out(job.id, shape, after=after, limit=ROWS_AT_ONCE)
        yield from rows


def _named(shape: Shape, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column.name: value for column, value in zip(shape.columns, row, strict=True)}


def _demand_needed(ledger: Ledger, job: Job, tables: tuple[Shape, ...], census: Census) -> None:
    """Lost bodies that the job cannot do without are to be in the snapshot all the same: so it is refused."""
    [shape] = [shape for shape in tables if shape.table == "target"]
    targets = (_named(shape, row) for row in _copied(ledger, job, shape))
    segments = {file: segment for segment, file in census.files.items()}
    for file, end in census.losses.needed(every_page(ledger, job.id), targets):
        census.demand(segments[file], end)


def _segments(packer: TarWriter, lines: Iterator[bytes], shape: Shape) -> Iterator[Part]:
    number, held, size = 1, list[bytes](), 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= SEGMENT_BYTES:
            yield _segment(packer, shape, number, held)
            number, held, size = number + 1, [], 0
    if held:
        yield _segment(packer, shape, number, held)


def _segment(packer: TarWriter, shape: Shape, number: int, lines: list[bytes]) -> Part:
    packed = load_zstd().compress(b"".join(lines), ZSTD_LEVEL)
    name = f"rows/{shape.table}-{number:06}.jsonl.zst"
    digest = packer.add(name, len(packed), [packed])
    return Part(name=name, table=shape.table, rows=len(lines), bytes=len(packed), sha256=digest)


def _bodies(packer: TarWriter, shelf: Shelf, census: Census) -> Iterator[Part]:
    """The files that bodies lie in, up to the last one that is there; refused where one that is needed is not."""
    for segment, end in sorted(census.ends.items()):
        stored = census.files[segment]
        name = stored.rpartition("/")[2]
        digest = packer.add(BODIES + name, end, shelf.blocks(stored, end))
        yield Part(name=name, table="", rows=0, bytes=end, sha256=digest)


def _files(packer: TarWriter, files: FileShelf, job: Job, census: Census) -> Iterator[Part]:
    stored = [
        ListCopy(path, size, sha256, partial(files.blocks, path, size))
        for path, (size, sha256) in sorted(census.stored.items())
    ]
    for number, each in enumerate((*stored, *lists_of(job, files)), 1):
        digest = packer.add(f"{FILES}{number:08}", each.size, each.blocks())
        if digest != each.sha256.hex():
            raise Corrupt(f"the file {each.path} is not what was stored", hint=LOST_FILE)
        yield Part(name=each.path, table="", rows=0, bytes=each.size, sha256=digest)


def load_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
