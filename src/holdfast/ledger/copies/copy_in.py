"""A job's rows written into another ledger, or once more into their own: one transaction, so there is all of it or
nothing. Ids are moved, keys are those of this ledger's salt, and whatever was being worked arrives paused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from holdfast.errors import Corrupt, Refused
from holdfast.ledger.books import add_event, write_checkpoint, write_tallies
from holdfast.ledger.copies.new_ids import CheckpointChain, Readdressed
from holdfast.ledger.copies.portable import BY_NAME, shapes
from holdfast.ledger.tx import Row, Tx, marks, one, padded
from holdfast.ledger.verbs.jobs import close_runs, control_chunk, read_job, request, set_aside
from holdfast.ledger.verbs.leases import acknowledge
from holdfast.model.artifact import is_artifact
from holdfast.model.job import Job, Options
from holdfast.model.keys import canonical, key_of, key_of_name
from holdfast.model.outcome import is_segment
from holdfast.model.portable import Arrival, Shape, Slice, moved_by
from holdfast.model.states import JOB, move
from holdfast.ports import IsDead, Judge

Change = Callable[[dict[str, Any]], None]
ROWS_PER_LOOK = 256


def copy_in(
    tx: Tx, arrival: Arrival, slices: Iterator[Slice], reserved: Mapping[str, int], is_dead: IsDead, judge: Judge
) -> Job:
    """Write every slice, in the order of the tables; the job as it is then. Refused where its name or id is taken, or
    where what was written breaks a law: then nothing of it stays."""
    for job in sorted(arrival.replaces):  # the order in which every verb locks several jobs
        _make_way(tx, job, arrival.actor, is_dead)
    _refuse_taken(tx, arrival)
    by = {table: reserved.get(table, _free(tx, table, *bounds)) for table, bounds in arrival.ids.items()}
    own = {shape.table: set(shape.columns) for shape in shapes(tx)}
    writer: _Writer | None = None
    for shape, rows in slices:
        if set(shape.columns) != own.get(shape.table):
            raise Corrupt(f"the snapshot has another table {shape.table} than this ledger")
        if writer is None:
            writer = _Writer(tx, arrival, Readdressed(_insert_job(tx, arrival, shape, rows), by, arrival.ids))
        else:
            writer.write(shape, rows)
    if writer is None:
        raise Corrupt("there is no job in the snapshot")
    made = _arrived(tx, writer.ids.job, arrival)
    write_tallies(tx)
    _refuse_lawless(tx, made, judge)
    return made


def _refuse_lawless(tx: Tx, made: Job, judge: Judge) -> None:
    """Forged rows may make the audit itself raise. That refuses them as well."""
    try:
        found = judge(tx.rows, made.id)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, Corrupt) as error:
        found = [f"they cannot be judged: {error}"]
    if found:
        more = f"; and {len(found) - 1} more" if len(found) > 1 else ""
        raise Refused(
            f"the rows of this snapshot are not those of a job: {found[0]}{more}; nothing was restored",
            hint="holdfast verify JOB, where it comes from",
        )


def _make_way(tx: Tx, job: int, actor: str, is_dead: IsDead) -> None:
    """The job that had the name, at rest and under another one: a restore that is refused has not touched it."""
    tx.take_turns(job)
    before = read_job(tx, job, locked=True)
    if before.status == "in_progress":
        request(tx, job, "pause", actor=actor, because="restore --replace", paused_by="user")
        if acknowledge(tx, job, is_dead=is_dead) is None:
            raise Refused(f"{before.name} is being worked; it cannot be replaced now", hint="holdfast pause")
    set_aside(tx, before, because="restore --replace")


def _refuse_taken(tx: Tx, arrival: Arrival) -> None:
    if one(tx, "SELECT 1 FROM job WHERE uid = ?", (arrival.uid,)) is not None:
        raise Refused(f"there is a job {arrival.uid} already", hint="run the same command again")
    taken = one(tx, "SELECT name FROM job WHERE name = ? OR identity = ?", (arrival.name, arrival.identity))
    if taken is not None:
        raise Refused(f"there is a job {taken[0]} already")


def _free(tx: Tx, table: str, low: int, high: int) -> int:
    """By how much ids must be moved to be free."""
    row = one(tx, f"SELECT max(id) FROM {table}")
    assert row is not None
    return moved_by((row[0] or 0) + 1, low, high)


def _insert_job(tx: Tx, arrival: Arrival, shape: Shape, rows: Sequence[Row]) -> int:
    if shape.table != "job" or len(rows) != 1:
        raise Corrupt("the snapshot does not begin with one job")
    values = dict(zip((column.name for column in shape.columns), rows[0], strict=True))
    del values["id"]
    values.update(uid=arrival.uid, name=arrival.name, identity=arrival.identity, options=_options(values["options"]))
    row = one(
        tx,
        f"INSERT INTO job ({', '.join(values)}) VALUES ({marks(list(values))}) RETURNING id",
        tuple(values.values()),
    )
    assert row is not None
    return int(row[0])


def _options(stored: str) -> str:
    """As they were, but for the file that results went to: that name is another computer's, or another job's."""
    try:
        options = msgspec.json.decode(stored, type=Options)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Corrupt(f"the options of the job in the snapshot cannot be read: {error}") from error
    return msgspec.json.encode(msgspec.structs.replace(options, output="", output_form="")).decode()


def _arrived(tx: Tx, job: int, arrival: Arrival) -> Job:
    """A line of history; and nothing that was at work, or would be taken up again unasked, goes on by itself."""
    before = read_job(tx, job)
    control = control_chunk(tx, job)
    add_event(tx, control, "job", "restore", before.status, before.status, actor=arrival.actor, because=arrival.because)
    tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))
    if before.status == "in_progress":
        step = move(JOB, before.status, "pause")
        tx.run(
            "UPDATE job SET status = ?, requested = NULL, since = ?, paused_at = ?, version = version + 1 WHERE id = ?",
            (step.target, tx.wall(), tx.wall(), job),
        )
        tx.run("UPDATE chunk SET requested = NULL WHERE job = ?", (job,))
        close_runs(tx, job, step.target, "restore")
        add_event(tx, control, "job", "pause", step.source, step.target, actor=arrival.actor, because=arrival.because)
        write_checkpoint(tx, job, "pause")
    if before.status in ("in_progress", "paused"):
        tx.run(
            "UPDATE job SET paused_by = 'restore', because = ?, stop_reason = NULL WHERE id = ?", (arrival.because, job)
        )
    return read_job(tx, job)


class _Writer:
    """Rows of every table but the job's own, under their new ids."""

    def __init__(self, tx: Tx, arrival: Arrival, ids: Readdressed) -> None:
        self._tx, self._arrival, self.ids = tx, arrival, ids
        ledger = one(tx, "SELECT id, salt FROM ledger")
        assert ledger is not None
        self._is_at_home, self._salt = ledger[0] == arrival.ledger, bytes(ledger[1])
        self._chain = CheckpointChain(ids, is_at_home=self._is_at_home)
        self._own: dict[str, Change] = {
            "chunk": self._free_chunk,
            "plan": self._plan,
            "segment": self._segment,
            "artifact": self._artifact,
            "consumer": lambda row: row.update(cursor=ids.bookmark(row["cursor"])),
            "walk": lambda row: row.update(doc=ids.walk(row["doc"])),
            "undo": lambda row: row.update(before=ids.image(row["before"])),
            "checkpoint": self._checkpoint,
            "external_link": lambda row: row.update(key=self._key(row["url"], "", "")),
        }

    def write(self, shape: Shape, rows: Sequence[Row]) -> None:
        names = [column.name for column in shape.columns]
        made = [dict(zip(names, row, strict=True)) for row in rows]
        portable = BY_NAME[shape.table]
        for row in made:
            for column, table in portable.ids.items():
                row[column] = self.ids.id(table, row[column])
            if "job" in row:
                row["job"] = self.ids.job
        self._changed(shape.table, made)
        self._tx.load(shape.table, names, [tuple(row.values()) for row in made])

    def _changed(self, table: str, rows: list[dict[str, Any]]) -> None:
        if table == "lane":
            self._hosts(rows)
        elif table == "target":
            self._keys(rows)
        elif table in self._own:
            for row in rows:
                self._own[table](row)

    def _free_chunk(self, row: dict[str, Any]) -> None:
        if row["owner_pid"] is not None:
            raise Corrupt(f"chunk {row['id']} of the snapshot has an owner")

    def _plan(self, row: dict[str, Any]) -> None:
        """Its trail is made of keys: in a ledger with another salt the plan goes on without that check."""
        if not self._is_at_home:
            row["trail"] = None

    def _segment(self, row: dict[str, Any]) -> None:
        if self._arrival.segments_under is not None:
            row["name"] = f"{self._arrival.segments_under}/{row['name'].rpartition('/')[2]}"
        if not is_segment(row["name"]):
            raise Corrupt(f"the snapshot has a segment with a name that cannot be used: {row['name'][:200]!r}")

    def _artifact(self, row: dict[str, Any]) -> None:
        row["path"] = self._arrival.files.get(row["path"], row["path"])
        if not is_artifact(row["path"]):
            raise Corrupt(f"the snapshot has a file with a path that cannot be used: {row['path'][:200]!r}")

    def _checkpoint(self, row: dict[str, Any]) -> None:
        row["doc"], row["checksum"] = self._chain.next(row["doc"], row["checksum"])

    def _hosts(self, rows: list[dict[str, Any]]) -> None:
        """A lane's host is this ledger's row of that name."""
        keys = sorted({_host(row["origin"]) for row in rows})
        self._tx.many(
            "INSERT INTO host (key, busy, next_at, hold_until, set_at) VALUES (?, 0, 0, 0, 0) "
            "ON CONFLICT (key) DO NOTHING",
            [(key,) for key in keys],
        )
        known = self._looked_up("SELECT key, id FROM host WHERE key IN", keys)
        for row in rows:
            row["host"] = known[_host(row["origin"])]

    def _keys(self, rows: list[dict[str, Any]]) -> None:
        lanes = sorted({row["lane"] for row in rows})
        origins = self._looked_up("SELECT id, origin FROM lane WHERE id IN", lanes)
        names = self._looked_up("SELECT target, name FROM named WHERE target IN", [row["id"] for row in rows])
        for row in rows:
            if row["held_epoch"] is not None:
                raise Corrupt("a target of the snapshot is held by a worker")
            row["key"] = self._key(origins.get(row["lane"], ""), row["path"], names.get(row["id"]) or "")

    def _key(self, origin: str, path: str, name: str) -> bytes:
        """Keys are salted per ledger, so that a hostile site cannot craft two URLs with one. A target without a host
        has a name and no address."""
        url = origin + path
        if not origin and name:
            return key_of_name(name, self._salt)
        address = canonical(url)
        if address is None:
            raise Corrupt(f"the snapshot has a target without an address: {url[:200]!r}")
        return key_of_name(name, self._salt) if name else key_of(address, self._salt)

    def _looked_up(self, sql: str, keys: Sequence[Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for start in range(0, len(keys), ROWS_PER_LOOK):
            part = padded(keys[start : start + ROWS_PER_LOOK])
            found.update(dict(self._tx.rows(f"{sql} ({marks(part)})", part)))
        return found


def _host(origin: str) -> str:
    return origin.partition("//")[2]
