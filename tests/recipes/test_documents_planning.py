"""The plan of a list: what it holds in memory, and that it is the same however many versions come later."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.recipes.documents.digests import Digests
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.paths import file_path
from holdfast.recipes.documents.planning import planned

SHAPE = ListShape.of({"columns": {"url": "Link", "id": "Number"}, "skip_where": "", "site": "", "source": "s"})
BYTES_PER_ROW_MAX = 60  # a digest, and what the first look at a list reads of it; in a set it would be 78 more
LOOKS_BYTES_PER_ROW_MAX = 90


def write_list(path: Path, rows: int) -> Path:
    lines = (f"http://shelf.test/judgments/{n}.pdf,N-{n}\n" for n in range(rows))
    path.write_text("Link,Number\n" + "".join(lines))
    return path


def grows_by(folder: Path, read: Callable[[Path], object]) -> float:
    """Bytes that one more row of a list takes at most, while it is read."""
    peaks = []
    for rows in (2_000, 30_000):
        path = write_list(folder / f"{rows}.csv", rows)
        tracemalloc.start()
        read(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / 28_000


def test_a_long_list_is_planned_and_counted_without_being_held(tmp_path: Path) -> None:
    """A list of 100,000 links needs no more memory than a few megabytes."""
    assert grows_by(tmp_path, lambda path: sum(1 for _ in planned([path], SHAPE))) < BYTES_PER_ROW_MAX
    assert grows_by(tmp_path, lambda path: sound(ListFile.open(path, SHAPE))) < LOOKS_BYTES_PER_ROW_MAX


def test_digests_are_a_set_of_numbers() -> None:
    """Against a Python set: numbers that share their low bits, zero and one, and the largest."""
    digests, known = Digests(), set()
    for number in [1, 2**64 - 1, *(n << 8 for n in range(1, 3_000)), *(7 * n + 1 for n in range(3_000))]:
        assert (number in digests) == (number in known)
        assert digests.add(number) == (number not in known)
        known.add(number)
    assert len(digests) == len(known)
    assert all(number in digests for number in known)
    assert not any(number in digests for number in range(2**40, 2**40 + 1_000))


def test_a_later_version_only_adds_to_the_plan(tmp_path: Path) -> None:
    """The cursor of a plan stands behind the same documents, whichever version is the last."""
    paths = [tmp_path / f"{n}.csv" for n in range(3)]
    paths[0].write_text("Link,Number\nhttp://a.test/1,A\nhttp://a.test/2,B\nhttp://a.test/9,A\n")
    paths[1].write_text("Link,Number\nhttp://a.test/3,C\nhttp://a.test/4,B\nhttp://a.test/1,A\n")
    paths[2].write_text("Link,Number\nhttp://a.test/4,B\nhttp://a.test/5,C\nhttp://a.test/6,D\n")
    plans = [[(name, entry.url, version) for name, entry, version in planned(paths[:n], SHAPE)] for n in (1, 2, 3)]
    for shorter, longer in pairwise(plans):
        assert longer[: len(shorter)] == shorter
    assert [url[-1] for _, url, _ in plans[2]] == ["1", "2", "3", "4", "5", "6"]
    names = [name for name, _, _ in plans[2]]
    assert [name.partition("~")[0] for name in names] == ["A", "B", "C", "B", "C", "D"]
    assert [len(name) for name in names] == [1, 1, 1, 10, 10, 1]


def test_documents_of_equal_title_are_two_and_forty_long_titles_are_forty(tmp_path: Path) -> None:
    """Defect 3: no title names a document or its file."""
    long = "In the Matter of " + "the Osprey Shipping Company and others " * 5
    titles = ["Tamarind Bay Ltd v Osprey Shipping"] * 2 + [f"{long[:180]}{n}" for n in range(40)]
    path = tmp_path / "list.csv"
    path.write_text("Actions,Title\n" + "".join(f"FSD{n},{title}\n" for n, title in enumerate(titles)))
    found = [file_path("s", name) for name, _, _ in planned([path], ListShape.of({}))]
    assert found == [f"pdfs/s/FSD{n}.pdf" for n in range(42)]


def version(path: Path, numbers: list[int]) -> Path:
    path.write_text("Link,Number\n" + "".join(f"https://e.example/{n}.pdf,A-{n}\n" for n in numbers))
    return path


def names(*paths: Path) -> list[str]:
    return [name for name, _, _ in planned(paths, SHAPE)]


def test_a_row_that_appears_at_the_top_between_pause_and_resume_shifts_nothing(tmp_path: Path) -> None:
    """Defect 6: no row, page or button is a cursor. Whatever was planned keeps its place in the plan."""
    first = version(tmp_path / "1.csv", list(range(10)))
    before = names(first)
    after = names(first, version(tmp_path / "2.csv", [99, *reversed(range(10)), 98]))
    assert before == [f"A-{n}" for n in range(10)]
    assert after == [*before, "A-99", "A-98"]


def test_two_hundred_known_rows_at_the_top_end_no_plan(tmp_path: Path) -> None:
    """Defect 8: what is new below them is planned."""
    first = version(tmp_path / "1.csv", list(range(200)))
    assert names(first, version(tmp_path / "2.csv", list(range(203))))[200:] == ["A-200", "A-201", "A-202"]


@pytest.mark.parametrize(
    ("text", "column", "is_direct"),
    [
        ("Ref,Download\nA,http://a.test/1.pdf\nB,\nC,http://a.test/2.pdf\nD,see above\n", "Download", True),
        ("Ref,Actions\nA,https://a.test/1.pdf\n", "Actions", True),
        ("Ref,Datei\nA,http://a.test/1.pdf\nB,\nC,http://a.test/2.pdf\n", "Datei", True),
        ("Ref,Download\nA,FSD9042202514032025NORTHREEF\nB,http://a.test/1.pdf\n", "Download", False),
    ],
    ids=["of that name, not in every row", "a site's name for tokens", "of no known name, not in every row", "tokens"],
)
def test_a_column_of_addresses_is_known_by_its_cells(tmp_path: Path, text: str, column: str, is_direct: bool) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    listed = ListFile.open(path, ListShape(columns={}))
    assert (listed.is_direct, listed.columns.get("url" if is_direct else "token")) == (is_direct, column)
