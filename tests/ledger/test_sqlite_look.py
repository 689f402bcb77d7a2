"""A ledger file that is only looked at: what it cannot know it does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import BadParams, HoldfastError, LedgerUnavailable, LedgerUnfit
from holdfast.ledger import sqlite_look
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.ledger.sqlite_look import LookedAtLedger
from holdfast.model.job import JobSpec

SPEC = JobSpec(recipe="site", name="marsh", identity="site:marsh", params={}, chunking="key")


def open_ledger(path: Path) -> SqliteLedger:
    return SqliteLedger.open(path, ManualClock(), "boot")


def look_at(path: Path) -> LookedAtLedger:
    return LookedAtLedger.open(path, ManualClock(), "boot")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ledger = open_ledger(tmp_path / "ledger.db")
    ledger.submit(SPEC)
    ledger.close()
    return tmp_path / "ledger.db"


def test_what_is_closed_is_read_and_nothing_is_left_beside_it(path: Path) -> None:
    looked = look_at(path)
    assert [job.name for job in looked.jobs()] == ["marsh"]
    with pytest.raises(BadParams, match="cannot be written"):
        looked.move(looked.job("marsh").id, "start", actor="user", because="test")
    looked.close()
    assert [each.name for each in path.parent.iterdir()] == ["ledger.db"]


def test_whoever_writes_meanwhile_is_seen_where_a_wal_stands(path: Path) -> None:
    writer = open_ledger(path)
    looked = look_at(path)
    writer.move(writer.job("marsh").id, "start", actor="user", because="test")
    assert [job.status for job in looked.jobs()] == ["in_progress"]
    writer.close()
    looked.close()


def test_nothing_is_told_of_a_file_that_began_to_change_while_it_was_read(path: Path) -> None:
    """Without a -wal SQLite is told that the file stays as it is: what is read of it otherwise may be of two times."""
    looked = look_at(path)
    writer = open_ledger(path)
    with pytest.raises(LedgerUnavailable, match="try again"):
        looked.jobs()
    writer.move(writer.job("marsh").id, "start", actor="user", because="test")
    writer.close()
    with pytest.raises(LedgerUnavailable, match="try again"):
        looked.jobs()
    looked.close()


def test_a_look_at_a_file_that_goes_away_makes_no_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = sqlite_look._stamp(path)

    def gone(file: Path) -> tuple[int, int, int]:
        file.unlink()
        return seen

    monkeypatch.setattr(sqlite_look, "_stamp", gone)
    with pytest.raises(HoldfastError):
        look_at(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("what", ["a -wal without its -shm", "another schema"])
def test_what_cannot_be_read_without_writing_is_refused_with_a_way_on(
    path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "another schema":
        monkeypatch.setattr(sqlite_look, "SCHEMA_VERSION", sqlite_look.SCHEMA_VERSION + 1)
    else:
        other = path.with_name("empty")  # the guard of live ledgers lets nobody open a -wal
        other.touch()
        other.rename(path.with_name("ledger.db-wal"))
    with pytest.raises(HoldfastError) as caught:
        look_at(path)
    assert isinstance(caught.value, (BadParams, LedgerUnfit))
    assert "copy the folder" in caught.value.hint
