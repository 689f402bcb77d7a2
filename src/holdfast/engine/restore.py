"""A job made from a snapshot. Every byte of the file is checked before the first row is parsed or written.

Bodies come first, then the one commit that refers to them: killed before it, there is no job, and the same command
again begins anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, BinaryIO

import msgspec

from holdfast.engine.control import cancel_rest, holder_of
from holdfast.engine.liveness import is_dead
from holdfast.engine.snapshots import BODIES, SEGMENT_BYTES, load_zstd
from holdfast.engine.tarball import Unpacker
from holdfast.errors import Refused
from holdfast.model.job import Job, check_name
from holdfast.model.portable import Arrival, Shape, Slice
from holdfast.model.snapshot import MANIFEST, MANIFEST_BYTES_MAX, Manifest, Part, damaged, read_manifest
from holdfast.ports import Ledger, Shelf

ROW_BYTES_MAX = 256 * 1024 * 1024
ROWS_PER_SLICE = 1_000


class Snapshot:
    """A snapshot file that is whole: opening it has read all of it once."""

    def __init__(self, file: BinaryIO) -> None:
        self._members = Unpacker(file)
        self.manifest = self._manifest()
        wanted = (*self.manifest.segments, *self._bodies())
        names = tuple(part.name for part in wanted)
        if (*names, MANIFEST) != self._members.names:
            missing = sorted({*names, MANIFEST} ^ {*self._members.names})
            raise damaged(f"it lacks a file, or has one too many: {(*missing, 'their order')[0]}")
        for part in wanted:
            for _ in self._checked(part):
                pass

    def bodies(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """(file name, its bytes), checked once more on the way."""
        for part in self._bodies():
            yield part.name.removeprefix(BODIES), self._checked(part)

    def slices(self, *, numbered: bool = False) -> Iterator[Slice]:
        """The rows, table by table, each of the type of its columns; `numbered`: only those that have an id."""
        shapes = {shape.table: shape for shape in self.manifest.tables}
        for part in self.manifest.segments:
            if numbered and shapes[part.table].place_of("id") is None:
                continue
            rows = self._rows(part, shapes[part.table])
            for start in range(0, len(rows), ROWS_PER_SLICE):
                yield shapes[part.table], rows[start : start + ROWS_PER_SLICE]

    def check_ids(self) -> None:
        """The ids that the manifest declares are those of the rows: room is made for them before a row is written."""
        found: dict[str, tuple[int, int]] = {}
        for shape, rows in self.slices(numbered=True):
            ids = [row[place] for row in rows if (place := shape.place_of("id")) is not None]
            ids += found.get(shape.table, ())
            found[shape.table] = (min(ids), max(ids))
        if found != self.manifest.ids:
            raise damaged("its rows have other ids than it says")

    def _manifest(self) -> Manifest:
        if MANIFEST not in self._members.names:
            raise damaged("it has no manifest, so it was never finished")
        if self._members.size(MANIFEST) > MANIFEST_BYTES_MAX:
            raise damaged("its manifest is too large")
        return read_manifest(b"".join(self._members.blocks(MANIFEST)))

    def _bodies(self) -> tuple[Part, ...]:
        return tuple(msgspec.structs.replace(part, name=BODIES + part.name) for part in self.manifest.bodies or ())

    def _checked(self, part: Part) -> Iterator[bytes]:
        """The bytes of a member; when they are all read, they are the ones that were written."""
        if self._members.size(part.name) != part.bytes:
            raise damaged(f"{part.name} has not the length that was written")
        digest = sha256()
        for block in self._members.blocks(part.name):
            digest.update(block)
            yield block
        if digest.hexdigest() != part.sha256:
            raise damaged(f"{part.name} does not have its sha256")

    def _rows(self, part: Part, shape: Shape) -> list[tuple[Any, ...]]:
        packed = b"".join(self._checked(part))
        decoder: msgspec.json.Decoder[tuple[Any, ...]] = msgspec.json.Decoder(shape.row_type())
        try:
            rows = [decoder.decode(line) for line in _unpacked(packed, part).splitlines()]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise damaged(f"a row of {part.table} cannot be read ({error})") from None
        if len(rows) != part.rows:
            raise damaged(f"{part.name} has {len(rows)} rows, not {part.rows}")
        return rows


def _unpacked(packed: bytes, part: Part) -> bytes:
    """However small it is packed: no more than the program that wrote it would have put in."""
    zstd = load_zstd()
    stream = zstd.ZstdDecompressor()
    try:
        text: bytes = stream.decompress(packed, SEGMENT_BYTES + ROW_BYTES_MAX)
    except zstd.ZstdError as error:
        raise damaged(f"{part.name} cannot be decompressed ({error})") from None
    if not stream.eof or stream.unused_data:
        raise damaged(f"{part.name} is larger than it may be")
    return text


@dataclass(frozen=True, slots=True)
class Wishes:
    """Under which name a job is restored, and whether one that has it gives it up."""

    name: str | None = None
    replace: bool = False
    actor: str = "cli"


def restore(ledger: Ledger, shelf: Shelf, snapshot: Snapshot, wishes: Wishes) -> Job:
    """The job in this ledger: paused, if it was being worked or paused. Whatever is refused has changed nothing."""
    manifest = snapshot.manifest
    _check_schema(ledger, manifest)
    snapshot.check_ids()
    name = _name(wishes.name, manifest)
    identity = f"{manifest.recipe}#{wishes.name}" if wishes.name else manifest.identity
    jobs = ledger.jobs()
    taken = [job for job in jobs if job.name == name or (job.identity is not None and job.identity == identity)]
    if taken and not wishes.replace:
        raise Refused(
            f"there is a job {taken[0].name} already, with this name or these inputs",
            hint=f"--name OTHER restores beside it; --replace keeps it as {taken[0].name}~1",
        )
    for job in taken:
        _refuse_worked(ledger, job)
    arrival = Arrival(
        ledger=manifest.ledger,
        ids={table: bounds for table, bounds in manifest.ids.items() if table != "job"},
        uid=manifest.job_id,
        name=name,
        identity=identity,
        segments_under=None,
        replaces=tuple(job.id for job in taken),
        actor=wishes.actor,
        because=f"restored from {manifest.id} of {manifest.updated_at}",
    )
    made = _received(ledger, shelf, snapshot, arrival)
    for job in taken:
        if ledger.books(job.id)[0].status == "cancelled":  # it was asked for, and carried out on the way
            cancel_rest(ledger, job)
    return made


def _received(ledger: Ledger, shelf: Shelf, snapshot: Snapshot, arrival: Arrival) -> Job:
    """Bodies first, under an id that no job has; a job without any needs no folder."""

    def is_taken(uid: str) -> bool:
        return any(job.uid == uid for job in ledger.jobs())

    if not snapshot.manifest.bodies:
        uid = next(uid for uid in _uids(arrival.uid) if shelf.is_free(uid) and not is_taken(uid))
        under = None if snapshot.manifest.bodies is None else uid
        return ledger.copy_in(replace(arrival, uid=uid, segments_under=under), snapshot.slices(), is_dead=is_dead)
    with shelf.receiving(_uids(arrival.uid), is_taken) as (uid, receive):
        for file, blocks in snapshot.bodies():
            receive(file, blocks)
        return ledger.copy_in(replace(arrival, uid=uid, segments_under=uid), snapshot.slices(), is_dead=is_dead)


def _check_schema(ledger: Ledger, manifest: Manifest) -> None:
    own = {shape.table: set(shape.columns) for shape in ledger.shapes()}
    if {shape.table: set(shape.columns) for shape in manifest.tables} == own:
        return
    [(schema,)] = ledger.query("SELECT schema_version FROM ledger")
    raise Refused(
        f"this snapshot was taken from a ledger of schema {manifest.ledger_schema}, and this ledger has {schema}; "
        "nothing was restored",
        hint="restore it with the Holdfast that wrote it, upgrade there, and take it again",
    )


def _name(wanted: str | None, manifest: Manifest) -> str:
    return manifest.name if wanted is None else check_name(wanted)


def _refuse_worked(ledger: Ledger, job: Job) -> None:
    owner = holder_of(ledger, job)
    if owner is not None:
        raise Refused(f"{job.name} is being worked by {owner}; it cannot be replaced now", hint="holdfast pause")


def _uids(wanted: str) -> Iterator[str]:
    """The id that it had, where nothing here has it, else a new one."""
    yield wanted
    for digits in chain((4, 4, 4, 6, 8), repeat(12)):  # as short as those that are submitted
        yield f"J-{secrets.token_hex(digits // 2)}"
