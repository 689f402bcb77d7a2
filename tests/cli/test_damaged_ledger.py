"""A ledger that was damaged, lost or replaced: commands say so, with exit 9, and begin nothing anew in silence."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from btrees import roots, swap
from cli.commands import Done, crawl_words, holdfast
from holdfast.demo.serving import WorldServer

READERS = (("verify", "frogs"), ("export", "frogs", "-o", "-"), ("status", "frogs"), ("targets", "frogs"), ("status",))


@pytest.fixture(scope="module")
def kept(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished crawl; tests damage copies of it."""
    folder = tmp_path_factory.mktemp("kept")
    done = holdfast(*crawl_words(tree), cwd=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def crawled(kept: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept, tmp_path / "copy")


def ledger_file(folder: Path) -> Path:
    return folder / "holdfast-data" / "ledger.db"


def swap_tables(folder: Path, first: str, second: str) -> None:
    file = ledger_file(folder)
    swap(file, roots(file)[first], roots(file)[second])


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_rows_that_belong_elsewhere_are_told_as_damage_and_not_as_a_crash(
    words: tuple[str, ...], crawled: Path
) -> None:
    swap_tables(crawled, "job", "ledger")
    done = holdfast(*words, cwd=crawled)
    assert done.code == 9, done.err
    assert "is damaged (" in done.err
    assert "restore a backup of the data folder" in done.err


@pytest.mark.parametrize("words", [("status", "frogs"), ("status",)], ids=" ".join)
def test_a_counter_whose_name_became_bytes_is_damage_and_not_a_crash(words: tuple[str, ...], crawled: Path) -> None:
    """One flipped bit makes a text a blob, which SQLite's own check finds in order."""
    with closing(sqlite3.connect(ledger_file(crawled))) as ledger, ledger:
        ledger.execute("UPDATE tally SET type = CAST('leaf' AS BLOB) WHERE chunk = (SELECT max(chunk) FROM tally)")
    done = holdfast(*words, cwd=crawled)
    assert done.code == 9, done.err
    assert "is damaged" in done.err


def test_verify_names_the_damage_of_a_file_whose_rows_it_cannot_judge(crawled: Path) -> None:
    swap_tables(crawled, "tally", "event")
    done = holdfast("verify", "frogs", cwd=crawled)
    assert done.code == 9, done.err
    assert "C1.file: the ledger's file is damaged: " in done.err
    assert "C1.file: nothing else could be judged: " in done.err


def test_verify_of_a_file_that_cannot_be_judged_is_still_a_document(crawled: Path) -> None:
    swap_tables(crawled, "tally", "event")
    told = holdfast("verify", "frogs", "--json", cwd=crawled).json()
    assert (told["name"], told["ok"]) == ("frogs", False)
    assert {finding["check"] for finding in told["findings"]} == {"C1.file"}


def lose(folder: Path) -> None:
    ledger_file(folder).unlink()


def empty(folder: Path) -> None:
    ledger_file(folder).write_bytes(b"")


def replace_by_a_new_one(folder: Path) -> None:
    """A ledger as it stands after a start that was refused: whole, and without a job."""
    lose(folder)
    other = folder / "other"
    other.mkdir()
    assert holdfast("crawl", "http://10.0.0.1/", cwd=other).code == 2
    ledger_file(other).rename(ledger_file(folder))


@pytest.mark.parametrize("way", [lose, empty, replace_by_a_new_one], ids=lambda way: way.__name__)
def test_a_crawl_beside_pages_of_a_lost_ledger_is_refused(way: object, tree: WorldServer, crawled: Path) -> None:
    assert callable(way)
    way(crawled)
    asked = len(tree.asks())
    done = holdfast(*crawl_words(tree), cwd=crawled)
    assert_lost(done)
    assert len(tree.asks()) == asked


def assert_lost(done: Done) -> None:
    assert done.code == 9, done.err
    assert "it seems to have been lost or replaced" in done.err
    assert "(restore it, or begin in another folder with --data DIR)" in done.err


def test_a_lost_ledger_is_not_made_anew_by_the_refusal(tree: WorldServer, crawled: Path) -> None:
    lose(crawled)
    assert_lost(holdfast(*crawl_words(tree), cwd=crawled))
    assert not ledger_file(crawled).exists()


def test_starting_over_beside_pages_of_the_earlier_job_is_no_lost_ledger(tree: WorldServer, crawled: Path) -> None:
    done = holdfast("crawl", "frogs", "--new", cwd=crawled)
    assert done.code == 0, done.err


def test_status_says_that_the_newest_checkpoint_is_damaged(crawled: Path) -> None:
    with closing(sqlite3.connect(ledger_file(crawled), isolation_level=None)) as raw:
        [(newest,)] = raw.execute("SELECT max(number) FROM checkpoint").fetchall()
        raw.execute(
            "INSERT INTO checkpoint (job, number, at, doc, checksum) "
            "SELECT job, number + 1, at, doc, checksum FROM checkpoint WHERE number = ?",
            (newest,),
        )
    assert f"checkpoint {newest} ({newest + 1} is damaged), " in holdfast("status", "frogs", cwd=crawled).out
    told = holdfast("status", "frogs", "--json", cwd=crawled).json()
    assert (told["checkpoint"]["number"], told["damaged_checkpoint"]) == (newest, newest + 1)


def test_status_says_nothing_of_damage_where_there_is_none(crawled: Path) -> None:
    assert "damaged" not in holdfast("status", "frogs", cwd=crawled).out
    assert "damaged_checkpoint" not in holdfast("status", "frogs", "--json", cwd=crawled).json()
