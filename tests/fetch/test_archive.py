"""Answers out of WARC files of others: each way in which one is stored, and what is told where none can be read."""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from disks import mounted
from fetch.archives import HOST, Warc, page, site
from holdfast.blobs.publish import beside
from holdfast.blobs.web_archive.archive import WarcFiles
from holdfast.blobs.web_archive.index import check_archives
from holdfast.blobs.web_archive.records import HEAD_BYTES_MAX, HEAD_LINES_MAX, READ_BYTES, Stopped, read_block, records
from holdfast.errors import BadParams, DiskFull, FetchError, Refused
from holdfast.fetch.archive.fetcher import ArchiveFetcher
from holdfast.model.exchange import Budget, Request, Response
from servers import need_root


def opened(folder: Path, *names: Path) -> WarcFiles:
    return WarcFiles.of([str(name) for name in names], folder / "index.db")


def get(archive: WarcFiles, path: str, budget: Budget | None = None) -> Response:
    return asyncio.run(ArchiveFetcher(archive, budget or Budget()).fetch(Request(HOST + path)))


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_comes_as_it_was_given_however_it_is_stored(tmp_path: Path, packed: bool) -> None:
    """In chunks, compressed, both, undone already, or as a reference to the same bytes; DOC-28."""
    archive = opened(tmp_path, site(tmp_path / f"site.warc{'.gz' if packed else ''}", packed=packed))
    for path, title in (("/chunks", "Chunks"), ("/packed", "Packed"), ("/both", "Both"), ("/undone", "Undone")):
        response = get(archive, path)
        assert (response.status, response.body) == (200, page(title)), path
        assert response.answered_at == 1_556_712_000_000
    assert get(archive, "/same").body == get(archive, "/").body
    assert (get(archive, "/moved").status, get(archive, "/moved").header("location")) == (301, "/chunks")
    assert get(archive, "/busy").status == 503


def test_pages_are_the_html_answers_in_their_order(tmp_path: Path) -> None:
    archive = opened(tmp_path, site(tmp_path / "site.warc.gz"))
    paths = ["/", "/chunks", "/packed", "/both", "/undone", "/same", "/private/x"]
    assert list(archive.pages()) == [HOST + path for path in paths]
    assert list(archive.pages(5)) == [HOST + "/same", HOST + "/private/x"]


def test_what_the_archive_has_not_is_no_page_of_the_site_but_unknown(tmp_path: Path) -> None:
    """A posted form is no answer to a GET; files that are only guessed at count as missing on the site."""
    archive = opened(tmp_path, site(tmp_path / "site.warc.gz"))
    for path in ("/missing", "/form"):
        with pytest.raises(FetchError) as raised:
            get(archive, path)
        assert raised.value.code == "not_archived"
    with Warc(tmp_path / "bare.warc.gz") as warc:
        warc.answer("/", page("Bare"))
    bare = WarcFiles.of([str(tmp_path / "bare.warc.gz")], tmp_path / "bare.db")
    assert [get(bare, path).status for path in ("/robots.txt", "/sitemap.xml")] == [404, 404]


def test_of_several_answers_the_latest_counts(tmp_path: Path) -> None:
    """In whichever file it lies; that nothing has changed since is no answer."""
    for name, date, body in (("b", "2021-01-01T00:00:00Z", "New"), ("a", "2018-01-01T00:00:00Z", "Old")):
        with Warc(tmp_path / f"{name}.warc.gz") as warc:
            warc.answer("/", page(body), date=date)
            warc.answer("/", status="304 Not Modified", date="2022-01-01T00:00:00Z")
    archive = opened(tmp_path, tmp_path)
    assert get(archive, "/").body == page("New")
    assert list(archive.pages()) == [HOST + "/"]


def test_a_body_that_is_too_large_or_was_cut_fails_like_one_of_the_web(tmp_path: Path) -> None:
    with Warc(tmp_path / "large.warc.gz") as warc:
        warc.answer("/large", b"x" * 400_000)
        warc.answer("/cut", page("Cut"), more={"WARC-Truncated": "length"})
        damaged = gzip.compress(page("Damaged"))
        packed = (("Content-Encoding", "gzip"),)
        warc.answer("/damaged", damaged[:10] + b"\xff" * 9 + damaged[19:], headers=packed)
    archive = opened(tmp_path, tmp_path / "large.warc.gz")
    for path, code in (("/large", "body_too_large"), ("/cut", "body_incomplete"), ("/damaged", "bad_response")):
        with pytest.raises(FetchError) as raised:
            get(archive, path, Budget(body_bytes_max=1_000))
        assert raised.value.code == code


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.warc.gz", None, "there is no file"),
        ("empty.warc", b"", "is empty"),
        ("page.warc", b"<html>no archive</html>", "is no WARC file"),
        ("other.warc.gz", gzip.compress(b"no archive", mtime=0), "is no WARC file"),
        ("broken.warc.gz", b"\x1f\x8b no gzip at all", "cannot be unpacked"),
        ("whole.warc.gz", b"whole", "compressed as a whole"),
    ],
)
def test_what_is_no_archive_is_said_at_once(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content == b"whole":
        content = gzip.compress(site(tmp_path / "plain.warc", packed=False).read_bytes())
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadParams, match=said):
        check_archives([str(tmp_path / name)])


def test_a_file_that_is_cut_off_gives_what_stands_before_and_says_so(tmp_path: Path) -> None:
    whole = site(tmp_path / "site.warc.gz").read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[: len(whole) // 2])
    archive = opened(tmp_path, tmp_path / "cut.warc.gz")
    assert get(archive, "/").status == 200
    assert 0 < len(list(archive.pages())) < 7
    (told,) = archive.told()
    assert "cut.warc.gz: not read to its end: it ends within the record at byte " in told


def test_files_that_have_changed_are_refused(tmp_path: Path) -> None:
    """A plan counts pages by their place in the index: another file would give others."""
    warc = site(tmp_path / "site.warc.gz")
    opened(tmp_path, warc).close()
    with warc.open("ab") as file:
        file.write(warc.read_bytes())
    with pytest.raises(Refused, match="has changed since it began"):
        opened(tmp_path, warc)


def test_reading_an_archive_through_takes_memory_of_one_record(tmp_path: Path) -> None:
    """PRF-08: 30 MB of pages, of which less than 4 MB are ever held."""
    with Warc(tmp_path / "large.warc.gz") as warc:
        for n in range(20):
            warc.answer(f"/{n}", b"%d" % n * 1_000_000)
    tracemalloc.start()
    try:
        opened(tmp_path, tmp_path / "large.warc.gz")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def record(more: bytes, length: int) -> bytes:
    return b"WARC/1.0\r\nWARC-Type: response\r\n%sContent-Length: %d\r\n\r\n" % (more, length)


class Counted(BytesIO):
    """A file that counts what is read of it, and what was asked for."""

    read_bytes = asked_bytes = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.read_bytes += len(found)
        self.asked_bytes += len(self.getbuffer()) if size is None or size < 0 else size
        return found


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "head",
    [b"X-Long: a\r\n" + b" b\r\n" * HEAD_LINES_MAX, b"X-Long: " + b"a" * HEAD_BYTES_MAX + b"\r\n"],
    ids=["lines", "bytes"],
)
def test_a_record_with_endless_headers_is_refused(packed: bool, head: bytes) -> None:
    """PRF-08: what stands before it is used, and its headers cost no more than a record's may."""
    last = record(head, 4) + b"frog\r\n\r\n"
    whole = [record(b"", 4) + b"frog\r\n\r\n", last]
    found = records(BytesIO(b"".join(gzip.compress(each) if packed else each for each in whole)))
    assert next(found).block == b"frog"
    with pytest.raises(Stopped, match="more headers than can be read"):
        next(found)
    with pytest.raises(Stopped, match="more headers than can be read"):
        read_block(BytesIO(gzip.compress(last) if packed else last), 0, 1_000)


def test_a_header_over_many_lines_is_one_text() -> None:
    [one] = records(BytesIO(record(b"X-Long: a\r\n" + b" b\r\n\tc\r\n" * 400, 4) + b"frog\r\n\r\n"))
    assert one.headers["x-long"] == "a" + " b c" * 400


def test_of_a_plain_file_only_the_record_that_is_wanted_is_read() -> None:
    """PRF-08: not as much as the largest answer might have."""
    file = Counted(record(b"", 4) + b"frog\r\n\r\n" + record(b"", 200_000) + b"x" * 30_000_000)
    assert read_block(file, 0, 50_000_000)[1] == b"frog"
    assert max(file.read_bytes, file.asked_bytes) <= READ_BYTES
    offset = file.getvalue().index(b"WARC/", 1)
    assert read_block(file, offset, 50_000_000)[1] == b"x" * 200_000
    assert read_block(file, offset, 100_000)[1] == b"x" * 100_000
    assert max(file.read_bytes, file.asked_bytes) < 500_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    need_root()
    yield from mounted(tmp_path / "disk", "size=64k")


def test_an_index_for_which_there_is_no_room_is_a_full_disk_and_leaves_nothing(
    tmp_path: Path, small_disk: Path
) -> None:
    with Warc(tmp_path / "many.warc.gz") as warc:
        for number in range(2_000):
            warc.answer(f"/{number}", page("Frogs"))
    with pytest.raises(DiskFull, match="no room for the index"):
        opened(small_disk, tmp_path / "many.warc.gz")
    assert list(small_disk.iterdir()) == []


def test_an_index_that_a_killed_process_had_begun_is_swept_by_the_next(tmp_path: Path) -> None:
    """It is killed within; one whose maker lives is left alone."""
    archive = site(tmp_path / "site.warc.gz")
    folder = tmp_path / "indexes"
    subprocess.run([sys.executable, "-c", KILLED, str(archive), str(folder / "index.db")], check=False)
    assert len(list(folder.iterdir())) == 1
    living, descriptor = beside(folder / "index.db", 0o600)
    opened(folder, archive)
    assert {path.name for path in folder.iterdir()} == {"index.db", living.name}
    os.close(descriptor)


KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.blobs.web_archive import index
index._take_file = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
index.make_index([Path(sys.argv[1])], Path(sys.argv[2]))
"""
