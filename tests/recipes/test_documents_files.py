"""Files by what they are, not by what they are called; PDFs opened where they can do no harm; paths from keys alone."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.clock import SystemClock
from holdfast.demo.judgments.files import file_of, rulings
from holdfast.demo.judgments.pdf import write_pdf
from holdfast.model.artifact import FetchedFile
from holdfast.recipes.documents import pdf_process
from holdfast.recipes.documents.paths import file_name, file_path, list_path
from holdfast.recipes.documents.pdf_process import NOBODY_LOOKED, PdfProcess
from holdfast.recipes.documents.recipe import DocumentsRecipe
from holdfast.recipes.documents.sniffing import KINDS, SAMPLE_BYTES, Sample, kind_named, kind_of
from holdfast.recipes.documents.validation import FileVerdict, check_file

PDF = file_of(7, next(iter(rulings(7)))) or b""
PAGE = b"<!DOCTYPE html><html><body>Sign in</body></html>"


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 3_000)
    return out.getvalue()


SAMPLES = {
    "pdf": PDF,
    "zip": zipped("a.txt"),
    "docx": zipped("[Content_Types].xml", "word/document.xml"),
    "xlsx": zipped("[Content_Types].xml", "docProps/app.xml", "xl/workbook.xml"),
    "html": PAGE,
    "png": b"\x89PNG\r\n\x1a\n" + b"\0" * 20,
    "jpg": b"\xff\xd8\xff\xe0" + b"\0" * 20,
    "gif": b"GIF89a" + b"\0" * 20,
    "csv": b"a,b\r\n1,2\r\n3,4\r\n",
    "json": b'{"a": [1, 2]}',
    "txt": "Café, and a line.\nAnother one.\n".encode(),
}


def sample_of(body: bytes) -> Sample:
    """As the recipe takes one of a file."""
    return Sample(len(body), body[:SAMPLE_BYTES], body[-SAMPLE_BYTES:])


@pytest.fixture(scope="module")
def look() -> Iterator[PdfProcess]:
    process = PdfProcess()
    yield process
    process.close()


# --- kinds


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_of_the_kind_of_its_bytes(kind: str) -> None:
    assert kind_of(sample_of(SAMPLES[kind])) == kind


@pytest.mark.parametrize("found", KINDS)
@pytest.mark.parametrize("claimed", KINDS)
def test_a_file_that_is_not_what_it_should_be_is_refused(found: str, claimed: str) -> None:
    verdict = check_file(sample_of(SAMPLES[found]), claimed)
    also = {("docx", "zip"), ("xlsx", "zip"), ("csv", "txt"), ("json", "txt"), ("txt", "csv")}
    also |= {("txt", "html"), ("csv", "html")}
    assert verdict.ok == (found == claimed or (found, claimed) in also)
    assert verdict.code == ("" if verdict.ok else "malformed_pdf" if claimed == "pdf" else "answer_unreadable")


def test_a_page_that_begins_as_xml_is_a_page() -> None:
    """As AsciiDoc writes its pages."""
    xhtml = b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN">\n<html></html>'
    assert kind_of(sample_of(xhtml)) == "html"


def test_an_error_page_is_never_a_file_of_unknown_kind() -> None:
    assert check_file(sample_of(PAGE), "").message == "an HTML page came instead of a file"
    assert check_file(sample_of(b"\x00\x01\x02"), "").ok
    assert check_file(sample_of(b""), "").message == "the file is empty"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/b.PDF?x=1", "pdf"),
        ("b.jpeg", "jpg"),
        ("https://o.test/c.htm#d", "html"),
        ("d.exe", ""),
        ("http://[d.pdf", "pdf"),
        ("", ""),
    ],
)
def test_the_kind_a_name_claims(name: str, kind: str) -> None:
    assert kind_named(name) == kind


@given(st.binary(max_size=5_000))
def test_any_bytes_have_a_verdict(body: bytes) -> None:
    assert kind_of(sample_of(body)) in (*KINDS, "")
    assert check_file(sample_of(body), "pdf").ok is False or body.startswith((b"%PDF", b"\xef\xbb\xbf%PDF"))


# --- PDFs


def test_a_pdf_opens_and_its_pages_are_counted(tmp_path: Path, look: PdfProcess) -> None:
    """DOC-19."""
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf("Ruling", ["A long sentence of a ruling. " * 5] * 30))
    verdict = check_file(sample_of(path.read_bytes()), "pdf", path=str(path), look=look)
    assert verdict.ok
    assert verdict.pages is not None
    assert verdict.pages > 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (PAGE, "an HTML page came instead"),
        (PDF[:700], "700 bytes; 1024 is the least"),
        (PDF[: len(PDF) // 2], "no end"),
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 2_000, "png bytes came"),
        (PDF[:2_000] + PDF[-300:], "the PDF does not open"),
        (b"%PDF-1.4\n" + b"x" * 2_000 + b"\n%%EOF\n", "the PDF does not open"),
    ],
)
def test_what_is_no_whole_pdf_is_malformed(body: bytes, said: str, tmp_path: Path, look: PdfProcess) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(body)
    verdict = check_file(sample_of(body), "pdf", path=str(path), look=look)
    assert verdict.code == "malformed_pdf"
    assert said in verdict.message


def test_every_file_of_the_world_is_good(tmp_path: Path, look: PdfProcess) -> None:
    for token in list(rulings(7))[:20]:
        path = tmp_path / f"{token}.pdf"
        path.write_bytes(file_of(7, token) or b"")
        assert check_file(sample_of(path.read_bytes()), "pdf", path=str(path), look=look).pages


def test_a_reader_that_is_kept_waiting_condemns_no_file_and_the_next_one_works(tmp_path: Path) -> None:
    """Whether the computer is busy or its disk stands still, that says nothing of the file."""
    stuck = tmp_path / "pipe.pdf"
    os.mkfifo(stuck)  # opening it waits for a writer that never comes
    good = tmp_path / "good.pdf"
    good.write_bytes(PDF)
    look = PdfProcess(answer_s=1)
    try:
        assert look(str(good)).pages
        assert look(str(stuck)) == NOBODY_LOOKED
        assert look(str(good)).pages
    finally:
        look.close()


def test_a_pdf_has_its_time_by_the_clock_of_the_processor(tmp_path: Path) -> None:
    """DOC-19: what a busy computer takes for the rest of its work is not counted."""
    late = tmp_path / "pipe.pdf"
    os.mkfifo(late)
    look = PdfProcess(cpu_s=0.5)
    writer = threading.Timer(1.5, late.write_bytes, (PDF,))  # three times as long, by the clock on the wall
    writer.start()
    try:
        assert look(str(late)).pages
    finally:
        writer.join()
        look.close()


def test_a_pdf_that_needs_more_time_is_kept_without_its_pages(tmp_path: Path) -> None:
    """DOC-19: to fetch it again would change nothing. A process that spends all of its time ends."""
    large, good = tmp_path / "large.pdf", tmp_path / "good.pdf"
    large.write_bytes(write_pdf("Ruling", ["Heard."] * 50_000))
    good.write_bytes(PDF)
    look = PdfProcess(cpu_s=0.1)
    try:
        verdict = check_file(sample_of(large.read_bytes()), "pdf", path=str(large), look=look)
        assert (verdict.ok, verdict.pages) == (True, None)
        assert look.pid is None
        assert look(str(good)).pages
    finally:
        look.close()


class OnDisk(msgspec.Struct, frozen=True):
    """Bytes of a file; where it lies is another matter."""

    at: Path
    body: bytes

    def readable(self) -> Path:
        return self.at

    def ends(self, size: int) -> tuple[bytes, bytes]:
        return self.body[:size], self.body[-size:]


def test_a_pdf_that_takes_long_to_open_holds_up_no_others(tmp_path: Path) -> None:
    """More than one is opened at a time, so that a job goes on meanwhile."""
    late, good = tmp_path / "pipe.pdf", tmp_path / "good.pdf"
    os.mkfifo(late)
    good.write_bytes(PDF)
    recipe = DocumentsRecipe(SystemClock())

    async def opened(path: Path) -> FileVerdict:
        file = FetchedFile(url="", status=200, headers=(), size=len(PDF), stored=OnDisk(path, PDF))
        return await recipe._checked(file, "pdf")

    async def all_opened() -> None:
        waiting = asyncio.create_task(opened(late))
        try:
            for _ in range(4):
                assert (await asyncio.wait_for(opened(good), 15)).pages
            assert not waiting.done()
        finally:
            await asyncio.to_thread(late.write_bytes, PDF)
        assert (await waiting).pages

    asyncio.run(all_opened())


def test_a_file_that_ends_its_reader_ends_nothing_else(tmp_path: Path) -> None:
    slow, good = tmp_path / "pipe.pdf", tmp_path / "good.pdf"
    os.mkfifo(slow)
    good.write_bytes(PDF)
    look = PdfProcess()
    try:
        assert look(str(good)).pages
        assert look.pid
        killer = threading.Timer(0.2, os.kill, (look.pid, signal.SIGKILL))
        killer.start()
        assert "ended the process" in look(str(slow)).error
        killer.join()
        assert look(str(good)).pages
    finally:
        look.close()


def test_where_nobody_can_look_no_file_is_condemned(tmp_path: Path) -> None:
    good = tmp_path / "good.pdf"
    good.write_bytes(PDF)
    look = PdfProcess(memory_bytes=20_000_000)  # not enough for Python itself
    seen = look(str(good))
    look.close()
    assert (seen.was_opened, seen.error) == (False, "")
    assert check_file(sample_of(PDF), "pdf", path=str(good), look=look).ok


def test_a_missing_file_is_an_error_of_the_look_and_no_crash(tmp_path: Path, look: PdfProcess) -> None:
    assert look(str(tmp_path / "none.pdf")).error


def test_the_reader_of_pdfs_is_not_loaded_in_this_process() -> None:
    import subprocess
    import sys

    code = "import sys, holdfast.recipes.documents.validation; sys.exit('pypdf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert pdf_process.LOOKS_PER_CHILD > 1


# --- paths


def test_a_token_is_its_own_file_name() -> None:
    """DOC-20."""
    assert file_path("unreported_judgments", "FSD90422025") == "pdfs/unreported_judgments/FSD90422025.pdf"
    assert list_path("unreported_judgments", "20250602T090000Z", "ab" * 32).endswith(
        "_20250602T090000Z_abababababab.csv"
    )


@given(st.text(min_size=1))
def test_no_key_leaves_its_folder_or_has_a_name_without_bound(key: str) -> None:
    path = PurePosixPath(file_path("unreported_judgments", key))
    assert len(path.parts) == 3
    assert ".." not in path.parts
    assert len(path.name.encode()) <= 130
    assert path.name.isascii()
    assert not set(path.name) & set('/\\:*?"<>|\0 ')


@given(st.sets(st.text(min_size=1), min_size=2, max_size=20))
def test_two_keys_never_share_a_file_even_without_letter_case(keys: set[str]) -> None:
    assert len({file_name(key).lower() for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "key", ["../../etc/passwd", "CON", "a\0b", "\u202egnp", ".", "x" * 5_000, "https://o.test/a?b=1"]
)
def test_odd_keys_have_plain_names(key: str) -> None:
    name = file_name(key)
    assert name != key
    assert len(name) <= 120


def test_forty_long_titles_as_keys_are_forty_files() -> None:
    assert len({file_name("In the Matter of " + "x" * 180 + str(number)) for number in range(40)}) == 40


def test_a_document_without_a_key_has_no_file() -> None:
    with pytest.raises(ValueError, match="without a key"):
        file_name("")


@pytest.mark.parametrize(("suffix", "kept"), [(".DOCX", "docx"), ("../x", "bin"), ("", "bin"), ("tar.gz", "bin")])
def test_a_suffix_is_short_and_plain(suffix: str, kept: str) -> None:
    assert file_path("s", "A1", suffix) == f"files/s/A1.{kept}"
