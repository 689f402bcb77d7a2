"""The ledger file itself: its settings, its versions, and what may not be done to it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import BadParams, LedgerUnfit
from holdfast.ledger import schema
from holdfast.ledger import sqlite as adapter
from holdfast.ledger.live_file import LiveFileOpened
from holdfast.ledger.sqlite import SqliteLedger, filesystem_of, refuse_network_filesystem
from holdfast.model.job import JobSpec

SPEC = JobSpec(recipe="site", name="marsh", identity="site:marsh", params={})


def open_ledger(folder: Path) -> SqliteLedger:
    return SqliteLedger.open(folder / "ledger.db", ManualClock(), "boot")


@pytest.mark.parametrize(("name", "wanted"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)])
def test_the_settings_that_keep_acked_commits_hold_on_every_connection(
    tmp_path: Path, name: str, wanted: object
) -> None:
    """C1, PER-01."""
    first = open_ledger(tmp_path)
    second = open_ledger(tmp_path)
    for ledger in (first, second):
        assert ledger.query(f"PRAGMA {name}") == [(wanted,)]
        ledger.close()


def test_a_ledger_that_cannot_be_made_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(adapter.PRAGMAS, "synchronous", "OFF")
    with pytest.raises(LedgerUnfit, match="synchronous is 0, must be 2"):
        open_ledger(tmp_path)


class Crowded:
    """A connection that is told "busy", in SQLite's various words, before some of its statements."""

    def __init__(self, connection: sqlite3.Connection, statement: str, *codes: int) -> None:
        self._connection, self._statement, self._codes = connection, statement, list(codes)

    def execute(self, sql: str, *more: object) -> object:
        if sql.startswith(self._statement) and self._codes:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = self._codes.pop(0)
            raise error
        return self._connection.execute(sql, *more)

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


def test_a_file_that_another_process_makes_just_now_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite does not wait by itself where the journal of a file is made."""
    connect, codes = sqlite3.connect, (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY)
    crowded = lambda *a, **k: Crowded(connect(*a, **k), "PRAGMA journal_mode =", *codes)  # noqa: E731
    monkeypatch.setattr(adapter.sqlite3, "connect", crowded)
    ledger = open_ledger(tmp_path)
    assert ledger.submit(SPEC)[0].name == "marsh"
    ledger.close()


def test_a_file_that_another_process_recovers_just_now_is_waited_for(tmp_path: Path) -> None:
    """After a kill, whoever opens the file first reads the log: the others are told so by a code of its own."""
    ledger = open_ledger(tmp_path)
    codes = (sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_BUSY)
    ledger._store._connection = Crowded(ledger._store._connection, "BEGIN IMMEDIATE", *codes)  # type: ignore[assignment,attr-defined]
    assert ledger.submit(SPEC)[0].name == "marsh"
    ledger.close()


def test_opening_the_live_ledger_from_python_raises(tmp_path: Path) -> None:
    """D1: closing any other descriptor of the file would drop SQLite's locks."""
    ledger = open_ledger(tmp_path)
    for name in ("ledger.db", "ledger.db-wal"):
        with pytest.raises(LiveFileOpened):
            os.open(tmp_path / name, os.O_RDONLY)
    with pytest.raises(LiveFileOpened):
        (tmp_path / "ledger.db").read_bytes()
    (tmp_path / "ledger.txt").write_text("other files are nobody's business")
    ledger.close()


def test_a_newer_ledger_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """PER-14."""
    open_ledger(tmp_path).close()
    raw = sqlite3.connect(tmp_path / "ledger.db")
    raw.execute("UPDATE ledger SET schema_version = 99")
    raw.commit()
    raw.close()
    with pytest.raises(LedgerUnfit, match="schema 99"):
        open_ledger(tmp_path)


NEXT = schema.SCHEMA_VERSION + 1


def test_an_older_ledger_is_upgraded_after_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(tmp_path)
    ledger.submit(SPEC)
    ledger.close()
    _add_migration(monkeypatch, "ALTER TABLE job ADD COLUMN mood TEXT")
    upgraded = open_ledger(tmp_path)
    assert upgraded.query("SELECT schema_version FROM ledger") == [(NEXT,)]
    assert upgraded.query("SELECT name, mood FROM job") == [("marsh", None)]
    upgraded.close()
    copy = sqlite3.connect(tmp_path / f"ledger.db.v{NEXT - 1}.backup")
    assert copy.execute("SELECT schema_version FROM ledger").fetchone() == (NEXT - 1,)
    copy.close()


def test_an_upgrade_that_fails_half_way_leaves_the_old_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D12: one transaction per migration."""
    open_ledger(tmp_path).close()
    _add_migration(monkeypatch, "ALTER TABLE job ADD COLUMN mood TEXT; ALTER TABLE nowhere ADD COLUMN mood TEXT")
    with pytest.raises(LedgerUnfit):
        open_ledger(tmp_path)
    monkeypatch.undo()
    ledger = open_ledger(tmp_path)
    assert ledger.query("SELECT schema_version FROM ledger") == [(NEXT - 1,)]
    assert not [row for row in ledger.query("PRAGMA table_info(job)") if row[1] == "mood"]
    ledger.close()


def _add_migration(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setitem(schema.MIGRATIONS, NEXT, text)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", NEXT)
    monkeypatch.setattr(adapter, "SCHEMA_VERSION", NEXT)


def test_a_damaged_file_is_refused_with_a_way_on(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this was a ledger once" * 400)
    with pytest.raises(LedgerUnfit, match="damaged") as caught:
        open_ledger(tmp_path)
    assert "--data" in caught.value.hint


def test_a_folder_that_is_not_there_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="cannot be written"):
        SqliteLedger.open(tmp_path / "nowhere" / "ledger.db", ManualClock(), "boot")


def test_a_connection_does_not_survive_a_fork(tmp_path: Path) -> None:
    """D4."""
    ledger = open_ledger(tmp_path)
    child = os.fork()
    if child == 0:
        try:
            ledger.jobs()
        except LedgerUnfit:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    ledger.close()


def test_network_filesystems_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "filesystem_of", lambda _: "nfs4")
    with pytest.raises(LedgerUnfit, match="network filesystem"):
        refuse_network_filesystem(tmp_path)


def test_the_filesystem_of_a_folder_is_the_longest_mount_that_holds_it() -> None:
    assert filesystem_of(Path("/proc/self")) == "proc"


def test_two_ledgers_have_two_salts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = open_ledger(tmp_path / "a"), open_ledger(tmp_path / "b")
    assert first.salt() != second.salt()
    first.close()
    second.close()
