"""A ledger file whose pages were swapped: every walk over its rows ends, and its own check names the damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from btrees import children, roots, swap
from conformance.bench import sqlite_bench
from conformance.verdicts import page
from holdfast.audit.contents import SLICE, damaged_records
from holdfast.clock import ManualClock
from holdfast.errors import Corrupt, LedgerUnfit
from holdfast.ledger.sqlite import SqliteLedger, damage_of

PAGES = 200


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger with a job whose targets fill several pages of the file, all in the file itself."""
    path = tmp_path / "made" / "ledger.db"
    path.parent.mkdir()
    bench = sqlite_bench(path, ManualClock())
    worker = bench.working(pages=PAGES)
    worker.settle(*map(page, worker.claim(PAGES)))
    bench.close()
    return path.rename(tmp_path / "ledger.db")


@pytest.fixture
def swapped(file: Path) -> Iterator[SqliteLedger]:
    first, second, *_ = children(file, roots(file)["target"])
    swap(file, first, second)
    ledger = SqliteLedger.open(file, ManualClock(), "boot")
    yield ledger
    ledger.close()


def test_targets_that_come_in_no_order_are_damage_and_not_a_walk_without_end(swapped: SqliteLedger) -> None:
    with pytest.raises(Corrupt, match="come in no order"):
        swapped.targets(1)


def test_pages_that_come_in_no_order_are_damage_and_not_an_export_without_end(swapped: SqliteLedger) -> None:
    with pytest.raises(Corrupt, match="come in no order"):
        swapped.pages(1)


def test_a_slice_of_the_audit_that_does_not_go_forward_is_damage() -> None:
    again = [(7, 0, b"", b"")] * SLICE
    with pytest.raises(Corrupt, match="come in no order"):
        damaged_records(lambda sql, parameters: again, 1)


def test_attempts_that_lead_back_to_themselves_are_damage(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        [(target,)] = raw.execute("SELECT min(target) FROM attempt").fetchall()
        raw.execute("UPDATE attempt SET prev_chunk = chunk, prev_no = no WHERE target = ?", (target,))
    ledger = SqliteLedger.open(file, ManualClock(), "boot")
    with pytest.raises(Corrupt, match="lead back to themselves"):
        ledger.history(1, target=target)
    ledger.close()


def test_the_files_own_check_finds_swapped_pages_beside_an_open_ledger(swapped: SqliteLedger, file: Path) -> None:
    found = damage_of(file)
    assert isinstance(found, LedgerUnfit)
    assert "is damaged (" in found.message
    assert "restore a backup" in found.hint


def test_the_files_own_check_finds_nothing_in_a_good_one_and_leaves_it_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    assert damage_of(file) is None
    assert file.read_bytes() == before


def test_a_file_that_is_none_of_sqlites_is_damage(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this was a ledger once" * 400)
    assert isinstance(damage_of(tmp_path / "ledger.db"), LedgerUnfit)


def test_a_text_that_is_none_is_damage_though_python_names_it_without_a_code(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE job SET name = CAST(x'66ff6f67' AS TEXT)")
    ledger = SqliteLedger.open(file, ManualClock(), "boot")
    with pytest.raises(LedgerUnfit, match="decode"):
        ledger.jobs()
    ledger.close()
