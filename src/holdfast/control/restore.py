"""A job made from a snapshot. Every byte of the file is checked before the first row is parsed or written.

Bodies come first, then the one commit that refers to them: killed before it, there is no job, and the same command
again begins anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from holdfast.clock import SystemClock
from holdfast.control.list_copies import OfferedVersions, is_index
from holdfast.control.list_store import ListStore
from holdfast.control.snapshot import BODIES, FILES
from holdfast.control.tarball import TarReader
from holdfast.control.unpacking import Allowance, lines
from holdfast.engine.liveness import is_dead
from holdfast.engine.recovery import cancel_rest, holder_of
from holdfast.errors import Corrupt, Refused
from holdfast.model.demands import demands
from holdfast.model.job import Job, JobFilter, Options, check_name
from holdfast.model.portable import Arrival, Shape, Slice
from holdfast.model.snapshot import MANIFEST, MANIFEST_BYTES_MAX, Manifest, Part, damaged, read_manifest
from holdfast.ports import FileShelf, Judge, Ledger, Shelf
from holdfast.recipes.catalogue import is_one

ROWS_PER_SLICE = 1_000
SLICE_BYTES = 4 * 1024 * 1024


class Snapshot:
    """A snapshot file that is whole: opening it has read all of it once."""

    def __init__(self, file: BinaryIO) -> None:
        self._members = TarReader(file)
        self.manifest = self._manifest()
        wanted = (*self.manifest.segments, *self._bodies(), *self._files())
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

    def files(self) -> Iterator[tuple[str, bytes, Iterator[bytes]]]:
        """(path, sha256, its bytes) of files of their own, checked once more on the way."""
        for part, member in zip(self.manifest.files or (), self._files(), strict=True):
            yield part.name, bytes.fromhex(part.sha256), self._checked(member)

    def slices(self) -> Iterator[Slice]:
        """The rows, table by table, each of the type of its columns."""
        shapes = {shape.table: shape for shape in self.manifest.tables}
        allowance = Allowance(self.manifest.segments)
        for part in self.manifest.segments:
            shape = shapes[part.table]
            yield from ((shape, rows) for rows in self._rows(part, shape, allowance))

    def demands(self) -> tuple[str, ...]:
        """What the job in it wants of this computer, one line each."""
        return demands(*self.job())

    def job(self) -> tuple[Options, dict[str, Any]]:
        """The options and params of the job in it."""
        for shape, [row, *_] in self.slices():
            values = dict(zip((column.name for column in shape.columns), row, strict=True))
            if shape.table != "job" or not is_one(values["recipe"], self.manifest.recipe):
                raise damaged("it does not begin with the job that it names")
            try:
                params = msgspec.json.decode(values["params"], type=dict[str, Any])
                return msgspec.json.decode(values["options"], type=Options), params
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise Corrupt(f"the options of the job in the snapshot cannot be read: {error}") from error
        raise damaged("there is no job in it")

    def check_rows(self) -> None:
        """Every row can be read and is within the budgets, before a ledger waits for the first to be written; and the
        ids that the manifest declares are those of the rows, for room is made for them."""
        found: dict[str, tuple[int, int]] = {}
        for shape, rows in self.slices():
            place = shape.place_of("id")
            if place is None:
                continue
            ids = [row[place] for row in rows]
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

    def _files(self) -> tuple[Part, ...]:
        parts = enumerate(self.manifest.files or (), 1)
        return tuple(msgspec.structs.replace(part, name=f"{FILES}{number:08}") for number, part in parts)

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

    def _rows(self, part: Part, shape: Shape, allowance: Allowance) -> Iterator[list[tuple[Any, ...]]]:
        decoder: msgspec.json.Decoder[tuple[Any, ...]] = msgspec.json.Decoder(shape.row_type())
        count = 0
        for some in _slices(lines(self._checked(part), part, allowance)):
            count += len(some)
            if count > part.rows:
                raise damaged(f"{part.name} has more than {part.rows} rows")
            try:
                yield [decoder.decode(line) for line in some]
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise damaged(f"a row of {part.table} cannot be read ({error})") from None
        if count != part.rows:
            raise damaged(f"{part.name} has {count} rows, not {part.rows}")


def _slices(rows: Iterable[bytes]) -> Iterator[list[bytes]]:
    """A number of rows that is neither large in itself nor in bytes."""
    held: list[bytes] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row)
        if len(held) >= ROWS_PER_SLICE or size >= SLICE_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


class RestoreOptions(msgspec.Struct, frozen=True):
    """Under which name a job is restored, whether one that has it gives it up, and whether its file is trusted."""

    name: str | None = None
    replace: bool = False
    actor: str = "cli"
    trust: bool = False


def restore(
    ledger: Ledger,
    shelf: Shelf,
    snapshot: Snapshot,
    restore_options: RestoreOptions,
    judge: Judge,
    files: FileShelf | None = None,
    lists: ListStore | None = None,
) -> Job:
    """The job in this ledger: paused, if it was being worked or paused. Whatever is refused has changed nothing."""
    manifest = snapshot.manifest
    _check_schema(ledger, manifest)
    offered = _offered(snapshot)
    wanted = (*snapshot.demands(), *(offered.demands(lists) if offered and lists else ()))
    _refuse_unasked(wanted, restore_options)
    snapshot.check_rows()
    name = _name(restore_options.name, manifest)
    identity = f"{manifest.recipe}#{restore_options.name}" if restore_options.name else manifest.identity
    jobs = ledger.jobs()
    taken = [job for job in jobs if job.name == name or (job.identity is not None and job.identity == identity)]
    if taken and not restore_options.replace:
        raise Refused(
            f"there is a job {taken[0].name} already, with this name or these inputs",
            hint=f"--name OTHER restores beside it; --replace keeps it as {taken[0].name}~1",
        )
    for job in taken:
        _refuse_worked(ledger, job)
    placed = _received_files(snapshot, files)
    arrival = Arrival(
        files={path: there for path, there in placed.items() if there != path},
        ledger=manifest.ledger,
        ids={table: bounds for table, bounds in manifest.ids.items() if table != "job"},
        uid=manifest.job_id,
        name=name,
        identity=identity,
        segments_under=None,
        replaces=tuple(job.id for job in taken),
        actor=restore_options.actor,
        because=f"restored from {manifest.id} of {manifest.updated_at}",
    )
    made = _received(ledger, shelf, snapshot, arrival, judge)
    if offered and lists:
        came = {path: digest.hex() for path, digest, _ in snapshot.files() if placed.get(path) == path}
        offered.learn(lists, came, trust=restore_options.trust)
    for job in taken:
        if ledger.job(job.id).status == "cancelled":  # it was asked for, and carried out on the way
            cancel_rest(ledger, job)
    return made


def _offered(snapshot: Snapshot) -> OfferedVersions | None:
    _, params = snapshot.job()
    return OfferedVersions.of(snapshot.manifest.recipe, params, snapshot.files(), SystemClock().wall_ms())


def _refuse_unasked(wanted: tuple[str, ...], restore_options: RestoreOptions) -> None:
    """A snapshot from elsewhere is data: what its job would do here beyond fetching public pages, a person decides."""
    if wanted and not restore_options.trust:
        told = "".join(f"\n  {line}" for line in wanted)
        raise Refused(
            f"the job in this snapshot wants more than public pages, so nothing was restored:{told}",
            hint="--trust takes it as it is",
        )


def _received_files(snapshot: Snapshot, files: FileShelf | None) -> dict[str, str]:
    """Files first, as bodies are; where each lies, which is elsewhere where other bytes have its name here. Without
    their rows they do no harm: where those are refused, `doctor` names the files. An index of lists is no such file."""
    if files is None:
        return {}
    return {
        path: files.receive(path, digest, blocks) for path, digest, blocks in snapshot.files() if not is_index(path)
    }


def _received(ledger: Ledger, shelf: Shelf, snapshot: Snapshot, arrival: Arrival, judge: Judge) -> Job:
    """Bodies first, under an id that no job has; a job without any needs no folder."""

    def copied(uid: str, under: str | None) -> Job:
        placed = replace(arrival, uid=uid, segments_under=under)
        return ledger.copy_in(placed, snapshot.slices(), is_dead=is_dead, judge=judge)

    def is_taken(uid: str) -> bool:
        return bool(ledger.jobs(where=JobFilter(uid=uid), limit=1))

    if not snapshot.manifest.bodies:
        uid = next(uid for uid in _uids(arrival.uid) if shelf.is_free(uid) and not is_taken(uid))
        return copied(uid, None if snapshot.manifest.bodies is None else uid)
    [(own,)] = ledger.query("SELECT id FROM ledger")
    with shelf.receiving(_uids(arrival.uid), is_taken, own) as (uid, receive):
        for file, blocks in snapshot.bodies():
            receive(file, blocks)
        return copied(uid, uid)


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
