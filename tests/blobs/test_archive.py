"""WARC files that others read: whole, in the order of their URLs, and the same for the same answers."""

from __future__ import annotations

import io
from operator import itemgetter
from pathlib import Path

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from blobs.bodies import make_body
from cli.commands import make_job
from holdfast.blobs.archive import WarcArchive
from holdfast.blobs.segments import Segments
from holdfast.blobs.spill import in_order
from holdfast.errors import Corrupt
from holdfast.model.outcome import BodyRef

JOB = make_job()
DAY_MS = 1_767_225_600_000  # 2026-01-01
DATE = ("Date", "Sun, 01 Mar 2026 14:00:00 GMT")


def stored(
    folder: Path, numbers: list[int], writer: str = "w1", *, later_ms: int = 0
) -> tuple[Segments, list[tuple[str, BodyRef]]]:
    """Pages of a marsh in the segments of a writer, fetched `later_ms` after the usual moment."""
    segments = Segments(folder, "J-7f3a", writer)
    bodies = [
        msgspec.structs.replace(body, fetched_at=body.fetched_at + later_ms)
        for body in (make_body(n, headers=(("content-type", "text/html"), DATE)) for n in numbers)
    ]
    return segments, [(body.url, ref) for body, ref in zip(bodies, segments.append(bodies), strict=True)]


def written(segments: Segments, pages: list[tuple[str, BodyRef]], folder: Path, **more: int) -> bytes:
    out = io.BytesIO()
    assert WarcArchive(segments, folder, software="holdfast/x", **more).write(JOB, pages, out.write) == len(pages)
    return out.getvalue()


def urls_of(archive: bytes) -> list[str]:
    records = ArchiveIterator(io.BytesIO(archive), check_digests="raise")
    return [each.rec_headers.get_header("WARC-Target-URI") for each in records if each.rec_type == "response"]


def test_a_file_begins_with_its_warcinfo_and_is_in_the_order_of_urls(tmp_path: Path) -> None:
    archive = written(*stored(tmp_path, [3, 1, 2]), tmp_path)
    first = next(iter(ArchiveIterator(io.BytesIO(archive))))
    assert first.rec_type == "warcinfo"
    assert b"software: holdfast/x\r\n" in first.content_stream().read()
    assert urls_of(archive) == [f"https://marsh.test/frog/{n}" for n in (1, 2, 3)]


def test_records_are_copied_as_they_lie_there(tmp_path: Path) -> None:
    segments, pages = stored(tmp_path, [2, 1])
    archive = written(segments, pages, tmp_path)
    assert archive.endswith(segments.raw_member(pages[1][1]) + segments.raw_member(pages[0][1]))


def test_order_of_arrival_and_the_name_of_the_writer_are_not_in_it(tmp_path: Path) -> None:
    one = written(*stored(tmp_path / "a", [1, 2, 3]), tmp_path)
    other = written(*stored(tmp_path / "b", [3, 1, 2], "another"), tmp_path)
    assert one == other


def test_with_a_date_of_its_own_not_even_the_moment_of_the_fetch_is_in_it(tmp_path: Path) -> None:
    one = written(*stored(tmp_path / "a", [1, 2]), tmp_path, dated_ms=DAY_MS)
    other = written(*stored(tmp_path / "b", [1, 2], later_ms=3_600_000), tmp_path, dated_ms=DAY_MS)
    assert one == other
    for record in ArchiveIterator(io.BytesIO(one), check_digests="raise"):
        assert record.rec_headers.get_header("WARC-Date") == "2026-01-01T00:00:00Z"
        if record.rec_type == "response":
            assert record.http_headers.get_header("Date") == "Thu, 01 Jan 2026 00:00:00 GMT"
            assert record.content_stream().read() in [make_body(n).content for n in (1, 2)]


def test_a_dated_file_passes_the_check_of_its_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "frogs.warc.gz"
    path.write_bytes(written(*stored(tmp_path, [1, 2, 3]), tmp_path, dated_ms=DAY_MS))
    checker = Checker(type("Options", (), {"inputs": [str(path)], "verbose": False}))
    checker.process_all()
    assert checker.exit_value == 0


def test_a_damaged_page_is_not_exported(tmp_path: Path) -> None:
    segments, [(url, reference)] = stored(tmp_path, [1])
    wrong = msgspec.structs.replace(reference, sha256=b"\0" * 32)
    with pytest.raises(Corrupt):
        written(segments, [(url, wrong)], tmp_path)


def test_more_rows_than_fit_are_put_in_order_and_leave_no_file(tmp_path: Path) -> None:
    reference = BodyRef("J-1/w-1.warc.gz", 0, 1, 1, b"", "")
    rows = [(f"https://marsh.test/{n * 7919 % 1009:04}", reference) for n in range(1009)]
    folder = tmp_path / "spill"
    folder.mkdir()
    walk = in_order(rows, folder, kind=tuple[str, BodyRef], key=itemgetter(0), rows_per_run=100)
    assert next(walk) == rows[0]
    assert [*rows[:1], *walk] == sorted(rows, key=lambda row: row[0])
    assert list(folder.iterdir()) == []
    back = in_order(rows, folder, kind=tuple[str, BodyRef], key=itemgetter(0), reverse=True, rows_per_run=100)
    assert list(back) == sorted(rows, key=lambda row: row[0], reverse=True)


def test_rows_of_equal_keys_stay_as_they_came(tmp_path: Path) -> None:
    rows = [(n % 3, n) for n in range(1000)]
    for reverse in (False, True):
        walk = in_order(rows, tmp_path, kind=tuple[int, int], key=itemgetter(0), reverse=reverse, rows_per_run=90)
        assert list(walk) == sorted(rows, key=itemgetter(0), reverse=reverse)
