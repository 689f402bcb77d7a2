"""The default ledger: one SQLite file, WAL and FULL, asserted on every connection. Local filesystems only."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from holdfast.clock import Clock, now_ns, pause_thread
from holdfast.errors import BadParams, DiskFull, HoldfastError, LedgerUnavailable, LedgerUnfit
from holdfast.ledger.live_file import guard
from holdfast.ledger.schema import LEDGER_TABLE, SCHEMA_VERSION, statements
from holdfast.ledger.sql import SqlLedger
from holdfast.ledger.tx import TARGET_COLUMNS, Row, TallyKey, marks, padded
from holdfast.model.keys import SALT_BYTES
from holdfast.model.portable import Column
from holdfast.model.spread import Spread

WORDS = {"id": "INTEGER PRIMARY KEY", "blob": "BLOB", "compact": "WITHOUT ROWID", "bytes_per_row": ""}
KIND_OF = {"INTEGER": "int", "BIGINT": "int", "TEXT": "text", "BLOB": "bytes"}
BUSY_TIMEOUT_S = 10.0
SHM_PIECE_BYTES = 32 * 1024
BUSY_REST_S = 0.001
LANES_KEPT_MAX = 20_000
KEYS_PER_QUERY = 256
ROWS_PER_INSERT_MAX = 64
DAMAGES_SHOWN = 20
READ_AND_WRITE = 0o666
PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    "wal_autocheckpoint": "4000",
    "journal_size_limit": "67108864",
    "cache_size": "-16384",
    "temp_store": "MEMORY",
    "mmap_size": "0",
    "case_sensitive_like": "ON",  # URLs are, and PostgreSQL's LIKE is
}
ASSERTED = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
NETWORK_FILESYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "ceph", "glusterfs", "lustre", "afs")
# For a parameter of either type the driver looks for an adapter and, finding none, raises and catches an error inside:
# fifty times per page. These give back what they are given.
sqlite3.register_adapter(bytes, bytes)
sqlite3.register_adapter(type(None), dict[None, None]().get)
LOCK_WAITS = Spread()  # of this process, all its connections together
_INSERT_TARGET = f"INSERT INTO target ({TARGET_COLUMNS}) VALUES ({', '.join('?' * (TARGET_COLUMNS.count(',') + 1))})"


class SqliteStore:
    """One connection. It belongs to one process: a forked child must open its own."""

    def __init__(self, path: Path, clock: Clock, boot: str) -> None:
        self._path, self._clock, self._boot = path, clock, boot
        self._pid = os.getpid()
        self.lanes: dict[tuple[int, str, str], tuple[int, int]] = {}
        self._connection = self._connect(path.absolute().as_uri())

    def _connect(self, uri: str) -> sqlite3.Connection:
        make_file(self._path)
        return self._opened(uri)

    def _opened(self, uri: str) -> sqlite3.Connection:
        return sqlite3.connect(
            uri, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=512, uri=True
        )

    def prepare(self, *, upgrades: bool = True) -> None:
        """Settings, their assertion, and a schema of this program's version: an older one is upgraded, or refused
        where somebody only looks."""
        try:
            version = self._version()
            if version is not None and version < SCHEMA_VERSION and not upgrades:
                raise LedgerUnfit(
                    f"{self._path} has schema {version}, this program has {SCHEMA_VERSION}, and a look changes nothing",
                    hint="holdfast db upgrade; starting or resuming a job upgrades it too, after a backup",
                )
            if version is None:
                self._connection.execute("PRAGMA page_size = 4096")
            for name, value in PRAGMAS.items():
                self._set(name, value)
            self._assert_settings()
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _set(self, name: str, value: str) -> None:
        """SQLite does not wait where two processes make a file's journal at the same moment: it says at once, busy."""
        asked_ns = now_ns()
        while True:
            try:
                # To its end: else an error that comes after the first row, of a failed fsync say, is never told.
                self._connection.execute(f"PRAGMA {name} = {value}").fetchall()
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or now_ns() - asked_ns > BUSY_TIMEOUT_S * 1e9:
                    raise
            pause_thread(BUSY_REST_S)

    def _assert_settings(self) -> None:
        for name, wanted in ASSERTED.items():
            found = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            if found != wanted:
                raise LedgerUnfit(f"{self._path.name}: {name} is {found!r}, must be {wanted!r}; nothing was written")

    def _version(self) -> int | None:
        known = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger'").fetchone()
        if known is None:
            return None
        row = self._connection.execute("SELECT schema_version FROM ledger").fetchone()
        return None if row is None else int(row[0])

    def _migrate(self) -> None:
        version = self._version()
        if version is not None and version > SCHEMA_VERSION:
            raise LedgerUnfit(
                f"{self._path.name} has schema {version}, this program knows {SCHEMA_VERSION}; nothing was written",
                hint="use the newer Holdfast that wrote it, or another --data folder",
            )
        if version is not None and version < SCHEMA_VERSION:
            self._back_up(version)
        for step in range((version or 0) + 1, SCHEMA_VERSION + 1):
            self._apply(step)

    def _back_up(self, version: int) -> None:
        path = self._path.with_name(f"{self._path.name}.v{version}.backup")
        make_file(path)
        copy = sqlite3.connect(path)
        try:
            self._connection.backup(copy)
        finally:
            copy.close()

    def _apply(self, version: int) -> None:
        """One migration, whole or not at all; a second process that waited finds it done."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if (self._version() or 0) < version:
                for statement in statements(version, WORDS):
                    self._connection.execute(statement)
                self._stamp(version)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # on a full disk SQLite has rolled back by itself
                self._connection.execute("ROLLBACK")
            raise

    def _stamp(self, version: int) -> None:
        if version > 1:
            self._connection.execute("UPDATE ledger SET schema_version = ?", (version,))
            return
        self._connection.execute(LEDGER_TABLE.format(**WORDS))
        values = (secrets.token_hex(8), version, secrets.token_bytes(SALT_BYTES), self._clock.wall_ms())
        self._connection.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", values)

    @contextmanager
    def write(self) -> Iterator[SqliteTx]:
        """BEGIN IMMEDIATE always: a transaction that reads first and writes later cannot be waited for."""
        self._check_process()
        with told(self._path):
            self._begin()
            tx = SqliteTx(self._connection, self._clock, self._boot, self.lanes)
            try:
                yield tx
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        self._learn(tx.lanes)

    def _begin(self) -> None:
        """Ask for the write lock every millisecond: SQLite's own waiting sleeps up to 100 ms, and is not fair."""
        asked_ns, ask = now_ns(), self._connection.execute
        ask("PRAGMA busy_timeout = 0")
        try:
            while not self._has_begun(asked_ns):
                pause_thread(BUSY_REST_S)
        finally:
            ask(f"PRAGMA busy_timeout = {round(BUSY_TIMEOUT_S * 1000)}")
        LOCK_WAITS.add(now_ns() - asked_ns)

    def _has_begun(self, asked_ns: int) -> bool:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or now_ns() - asked_ns > BUSY_TIMEOUT_S * 1e9:
                raise
            return False
        return True

    def damage(self) -> list[str]:
        """Pages and indexes that do not fit together. Bits that were flipped inside a value it cannot see."""
        with told(self._path):
            rows = self._connection.execute(f"PRAGMA integrity_check({DAMAGES_SHOWN})").fetchall()
        return [str(text) for (text,) in rows if text != "ok"]

    @contextmanager
    def reserved(self, ids: Mapping[str, tuple[int, int]]) -> Iterator[dict[str, int]]:
        """Nothing can be: a writer is alone, and what is free when it begins is free until it commits."""
        yield {}

    def _learn(self, lanes: dict[tuple[int, str, str], tuple[int, int]]) -> None:
        """Lanes are remembered only after the commit that may have made them; the memory is bounded."""
        if len(self.lanes) + len(lanes) > LANES_KEPT_MAX:
            self.lanes.clear()
        self.lanes.update(lanes)

    @contextmanager
    def read(self) -> Iterator[SqliteTx]:
        self._check_process()
        with told(self._path):
            self._connection.execute("BEGIN")
            try:
                yield SqliteTx(self._connection, self._clock, self._boot, self.lanes)
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise LedgerUnfit("this ledger connection was inherited by a fork; open one after the fork")

    def close(self) -> None:
        self._connection.close()


class SqliteLedger(SqlLedger):
    """A ledger file. `open` makes it, upgrades it after a backup, or says why it cannot be used."""

    kind_of_store = SqliteStore

    @classmethod
    def open(cls, path: Path, clock: Clock, boot: str, *, upgrades: bool = True) -> Self:
        refuse_network_filesystem(path.parent)
        with told(path):
            store = cls.kind_of_store(path, clock, boot)
            store.prepare(upgrades=upgrades)
        guard(path)
        return cls(store)


class SqliteTx:
    """See ledger/tx.py. A writer is alone in the file, so no row needs a lock."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        boot: str,
        known: dict[tuple[int, str, str], tuple[int, int]],
    ) -> None:
        self._connection, self._clock, self._known = connection, clock, known
        self.boot = boot
        self.tallies: defaultdict[TallyKey, int] = defaultdict(int)
        self.lanes: dict[tuple[int, str, str], tuple[int, int]] = {}
        self._wall: int | None = None
        self._lease_now: int | None = None

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def bulk(
        self, columns: Sequence[str], rest: str, parameters: Sequence[Any] = (), *, blob: int | None = None
    ) -> list[Sequence[Any]]:
        """All rows as one value, which SQLite makes without us."""
        inner = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
        outer = ", ".join(f"hex(c{place})" if place == blob else f"c{place}" for place in range(len(columns)))
        sql = f"SELECT json_group_array(json_array({outer})) FROM (SELECT {inner} {rest})"
        rows: list[list[Any]] = msgspec.json.decode(self._connection.execute(sql, parameters).fetchone()[0])
        if blob is not None:
            for row in rows:
                row[blob] = bytes.fromhex(row[blob])
        return list(rows)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        return self._connection.execute(sql, parameters).rowcount

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        listed = list(rows)
        if len(listed) < 2 or not sql.startswith("INSERT"):
            return self._connection.executemany(sql, listed).rowcount if listed else 0
        touched, at = 0, 0
        while at < len(listed):
            left = min(ROWS_PER_INSERT_MAX, len(listed) - at)
            n = left - left % 8 or left  # few different statements: all eights in one, then the rest
            values = [value for row in listed[at : at + n] for value in row]
            touched += self._connection.execute(_several(sql, n), values).rowcount
            at += n
        return touched

    def wall(self) -> int:
        if self._wall is None:
            self._wall = self._clock.wall_ms()
        return self._wall

    def lease_now(self) -> int:
        """One instant for the whole transaction: all chunks of a lease lapse together, and are taken together."""
        if self._lease_now is None:
            self._lease_now = self._clock.monotonic_ms()
        return self._lease_now

    def is_other_boot(self, owner_boot: str) -> bool:
        return owner_boot != self.boot

    def insert_targets(self, rows: Sequence[Sequence[Any]]) -> set[bytes]:
        job = rows[0][0]
        keys = [row[2] for row in rows]
        known: set[bytes] = set()
        for start in range(0, len(keys), KEYS_PER_QUERY):
            part = keys[start : start + KEYS_PER_QUERY]
            part = padded(part)
            found = self.bulk(("key",), f"FROM target WHERE job = ? AND key IN ({marks(part)})", (job, *part), blob=0)
            known.update(key for (key,) in found)
        new = [row for row in rows if row[2] not in known]
        self.many(_INSERT_TARGET, new)
        return {row[2] for row in new}

    def lock(self, table: str) -> str:
        return ""

    def skip_locked(self) -> str:
        return ""

    def contains(self, column: str) -> str:
        return f"instr({column}, ?) > 0"

    def among(self, ids: Sequence[int]) -> tuple[str, Sequence[Any]]:
        return f"IN ({marks(ids)})", ids

    def take_turns(self, job: int) -> None:
        return None

    def known_lane(self, key: tuple[int, str, str]) -> tuple[int, int] | None:
        return self.lanes.get(key) or self._known.get(key)

    def load(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)})", rows)

    def columns(self, table: str) -> tuple[Column, ...]:
        rows = self.rows(f"PRAGMA table_info({table})")
        return tuple(Column(name, KIND_OF[kind], not (filled or key)) for _, name, kind, filled, _, key in rows)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """Also while another process recovers what a killed one left: that is an extended code, in the upper bytes."""
    return _code(error) & 0xFF == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.DatabaseError) -> int:
    """SQLite's error code; 0 for errors that Python's module raises itself, such as one about invalid text."""
    return getattr(error, "sqlite_errorcode", 0)


def _several(sql: str, n: int) -> str:
    """`INSERT … VALUES (…)` for n rows at once."""
    head, values, rest = sql.partition("VALUES ")
    row, conflict, tail = rest.partition(" ON CONFLICT")
    return f"{head}{values}{', '.join([row.strip()] * n)}{conflict}{tail}"


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors in our words: what it means for the user, not which call failed."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _translated(error, path) from error
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it holds text that is not UTF-8: {error.reason}") from error


def _translated(error: sqlite3.DatabaseError, path: Path) -> HoldfastError:
    text = str(error)
    if "full" in text or (_code(error) == sqlite3.SQLITE_IOERR_SHMSIZE and _has_no_room_left(path.parent)):
        return DiskFull(f"no room on the disk of {path.parent}: nothing more can be saved there")
    if "unable to open" in text and _has_no_names_left(path.parent):
        return DiskFull(f"no room for another file on the disk of {path.parent}: nothing more can be saved there")
    if "unable to open" in text or "readonly" in text:
        return unwritable(path)
    if "locked" in text or "busy" in text:
        return LedgerUnavailable(f"{path.name} was busy for more than {BUSY_TIMEOUT_S:g} s")
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        return _damaged(path, text)
    return LedgerUnfit(f"{path.name}: {text}")


def unwritable(path: Path) -> BadParams:
    """Another folder has other jobs: to reach the jobs of this ledger, copy it there."""
    way = "choose another with --data DIR"
    if path.exists():
        way = "it can be looked at; to work its jobs make it writable, or copy it and name the copy with --data DIR"
    return BadParams(f"the data folder {path.parent} cannot be written", hint=way)


def _damaged(path: Path, what: str) -> LedgerUnfit:
    return LedgerUnfit(
        f"{path} is damaged ({what}); nothing was written",
        hint="restore a backup of the data folder, or begin in another one with --data DIR",
    )


def _has_no_room_left(folder: Path) -> bool:
    """Too little for the next piece of the index beside the log: of that SQLite says "disk I/O error"."""
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize < SHM_PIECE_BYTES


def _has_no_names_left(folder: Path) -> bool:
    """SQLite does not say why it could not make a file. Filesystems that do not count names give 0 for all of them."""
    try:
        counted = os.statvfs(folder)
    except OSError:
        return False
    return counted.f_files > 0 and counted.f_favail == 0


def version_of(path: Path) -> int | None:
    """The schema of a ledger file, by a connection that only reads; None: there is none yet."""
    if not path.exists():
        return None
    with told(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        known = file.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger'").fetchone()
        row = None if known is None else file.execute("SELECT schema_version FROM ledger").fetchone()
        return None if row is None else int(row[0])


def make_file(path: Path) -> None:
    """Make an empty file with the permissions of its folder. SQLite itself would follow the umask; -wal and -shm follow
    the file. If it cannot be made, SQLite says why. It is not opened: see live_file."""
    with suppress(OSError):
        os.mknod(path, path.parent.stat().st_mode & READ_AND_WRITE | stat.S_IRUSR | stat.S_IWUSR | stat.S_IFREG)


def back_up(path: Path, to: Path) -> None:
    """SQLite's own backup: one instant of a file that others may be writing. The copy is checked."""
    source = f"{path.absolute().as_uri()}?mode=ro"
    make_file(to)
    with told(path), closing(sqlite3.connect(source, uri=True)) as live, closing(sqlite3.connect(to)) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a -wal beside it
        [(found,)] = copy.execute("PRAGMA quick_check(1)").fetchall()
    if found != "ok":
        raise _damaged(path, f"its copy is: {found}")


def damage_of(path: Path) -> LedgerUnfit | None:
    """What SQLite's own check finds wrong with a ledger file, by a connection that only reads; None: nothing."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S)) as file:
            [(first,)] = file.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        found = _translated(error, path)
        return found if isinstance(found, LedgerUnfit) else None
    except UnicodeDecodeError as error:
        return _damaged(path, f"it holds text that is not UTF-8: {error.reason}")
    return None if first == "ok" else _damaged(path, first.splitlines()[-1])


def refuse_network_filesystem(folder: Path) -> None:
    """Locks of network filesystems lie, so a ledger there would be lost sooner or later."""
    kind = filesystem_of(folder)
    if kind in NETWORK_FILESYSTEMS:
        raise LedgerUnfit(
            f"{folder} lies on a network filesystem ({kind}), where SQLite cannot keep its promises",
            hint="use a local folder with --data DIR, or --database postgresql://…",
        )


def filesystem_of(folder: Path) -> str:
    """The type of the filesystem that holds this folder; empty where it cannot be told."""
    wanted = os.path.realpath(folder)
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        fields = line.split(" ")
        mount = fields[1].replace("\\040", " ")
        if (wanted == mount or wanted.startswith(mount.rstrip("/") + "/")) and len(mount) >= len(best):
            best, kind = mount, fields[2]
    return kind
