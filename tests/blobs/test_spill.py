"""Sorting outside memory: the same order as in memory, however many runs there are, with few files open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from disks import mounted
from holdfast.blobs.spill import RUNS_MAX, in_order
from holdfast.errors import DiskFull

ROWS = 2 * RUNS_MAX**2 + 500


@pytest.mark.parametrize("reverse", [False, True])
def test_many_runs_are_sorted_with_few_files_open(tmp_path: Path, reverse: bool) -> None:
    """Rows of equal keys stay as they came."""
    random = Random(7)
    rows = [(random.randrange(50), number) for number in range(ROWS)]
    others, opened = len(os.listdir("/proc/self/fd")), 0

    def looked() -> Iterator[tuple[int, int]]:
        nonlocal opened
        for number, row in enumerate(rows):
            if number % 100 == 0:
                opened = max(opened, len(os.listdir("/proc/self/fd")) - others)
            yield row

    found = in_order(looked(), tmp_path, kind=tuple[int, int], key=lambda row: row[0], reverse=reverse, rows_per_run=2)
    assert list(found) == sorted(rows, key=lambda row: row[0], reverse=reverse)
    assert RUNS_MAX / 2 < opened < 3 * RUNS_MAX
    assert len(os.listdir("/proc/self/fd")) == others


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "small", "size=64k")


def test_a_full_disk_is_told_as_that_of_the_folder_where_the_rows_are_sorted(small: Path) -> None:
    rows = ((number, "frog" * 100) for number in range(1_000))
    with pytest.raises(DiskFull, match=f"no room to save {small}"):
        list(in_order(rows, small, kind=tuple[int, str], key=lambda row: row[0], rows_per_run=100))
