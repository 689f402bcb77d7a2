"""What is spoiled on the disk is told by name. T12 spoils at random; here a few fixed ones, where it hurts most."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from crash.suites.damage import not_told_of_pages, spoil_checkpoint, spoil_segment, swap_members, unreadable
from crash.suites.kept import copied, make_finished

SEEDS = range(5)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_finished(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def data(finished: Path, tmp_path: Path) -> Path:
    return copied(finished, tmp_path / "data")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spoiled_checkpoint_is_told_and_the_one_before_it_serves(data: Path, seed: int) -> None:
    """F3."""
    fault, broken = spoil_checkpoint(data, Random(seed))
    assert broken == "", fault


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spoiled_segment_is_told_page_by_page_and_nothing_wrong_is_exported(data: Path, seed: int) -> None:
    """F1."""
    fault, broken = spoil_segment(data, Random(seed))
    assert broken == "", fault


def test_two_pages_in_each_others_place_are_told_though_both_are_whole(data: Path) -> None:
    """F1: only the hash in the ledger knows which is which."""
    swap_members(data, Random(0))
    assert len(list(unreadable(data))) == 2
    assert not_told_of_pages(data) == ""


def test_there_are_checkpoints_and_segments_to_spoil(data: Path) -> None:
    with closing(sqlite3.connect(data / "ledger.db")) as ledger:
        assert ledger.execute("SELECT count(*) >= 3 FROM checkpoint").fetchone() == (1,)
    assert len(list((data / "segments").rglob("*.warc.gz"))) >= 5
