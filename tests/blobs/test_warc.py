"""A stored page is a WARC record that an independent reader accepts, and damage to it is seen (PER-15)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from blobs.bodies import make_body
from holdfast.blobs import warc
from holdfast.errors import BadParams, Corrupt
from holdfast.model.outcome import Body, BodyRef


def reference_to(body: Body, stored: bytes) -> BodyRef:
    return BodyRef("J-1/w-1.warc.gz", 0, len(stored), len(body.content), body.sha256, body.media)


def read_by_warcio(stored: bytes) -> tuple[ArcWarcRecord, bytes]:
    (found,) = [
        (record, record.content_stream().read()) for record in ArchiveIterator(BytesIO(stored), check_digests="raise")
    ]
    return found


def test_an_independent_reader_gets_the_page_its_headers_and_a_matching_digest() -> None:
    body = make_body(
        headers=(("content-type", "text/html"), ("etag", '"7"'), ("set-cookie", "a=1"), ("set-cookie", "b=2"))
    )
    record, content = read_by_warcio(warc.member(body))
    assert content == body.content
    assert record.digest_checker.passed is True
    assert record.rec_type == "response"
    assert record.http_headers.get_statuscode() == "200"
    assert record.http_headers.headers == [*body.headers, ("Content-Length", str(len(body.content)))]


def test_a_record_says_where_and_when_the_page_was_fetched() -> None:
    record, _ = read_by_warcio(warc.member(make_body(7)))
    assert record.rec_headers.protocol == "WARC/1.1"
    assert record.rec_headers.get_header("WARC-Target-URI") == "https://marsh.test/frog/7"
    assert record.rec_headers.get_header("WARC-Date") == "2026-03-01T14:00:00.123Z"
    assert record.rec_headers.get_header("WARC-Record-ID").startswith("<urn:uuid:")


def test_framing_of_the_wire_is_noted_and_no_longer_claimed() -> None:
    """PER-15: the stored bytes are decoded; a record that still said gzip would be false."""
    wire = (("Content-Encoding", "gzip"), ("transfer-encoding", "chunked"), ("content-length", "9"), ("etag", '"7"'))
    record, content = read_by_warcio(warc.member(make_body(headers=wire)))
    assert record.http_headers.headers == [
        ("X-Archive-Orig-Content-Encoding", "gzip"),
        ("X-Archive-Orig-transfer-encoding", "chunked"),
        ("etag", '"7"'),
        ("Content-Length", str(len(content))),
    ]


def test_equal_bodies_give_equal_members_and_other_moments_other_records() -> None:
    body = make_body()
    later = replace(body, fetched_at=body.fetched_at + 1)
    assert warc.member(body) == warc.member(replace(body))
    first, second = (
        read_by_warcio(warc.member(each))[0].rec_headers.get_header("WARC-Record-ID") for each in (body, later)
    )
    assert first != second


@pytest.mark.parametrize("content", [b"", b"\r\n\r\n", b"\r\n\r\n\r\n\r\nWARC/1.1\r\n", bytes(range(256)) * 300])
def test_any_content_comes_back_as_it_was(content: bytes) -> None:
    body = make_body(content=content)
    stored = warc.member(body)
    assert warc.payload(stored, reference_to(body, stored)) == content
    assert read_by_warcio(stored)[1] == content


@given(value=st.text(st.sampled_from("a:\r\n\0 é🐸"), max_size=20), status=st.integers(100, 999))
def test_no_header_can_break_out_of_its_line(value: str, status: int) -> None:
    body = make_body(headers=(("x-frog", value), ("etag", '"7"')), status=status)
    record, content = read_by_warcio(warc.member(body))
    assert content == body.content
    assert [name for name, _ in record.http_headers.headers] == ["x-frog", "etag", "Content-Length"]


def test_a_smuggled_line_break_adds_no_header_and_no_body() -> None:
    body = make_body(headers=(("x-frog", "a\r\nx-toad: b\r\n\r\n<p>toad</p>"),))
    record, content = read_by_warcio(warc.member(body))
    assert content == body.content
    assert [name for name, _ in record.http_headers.headers] == ["x-frog", "Content-Length"]


@pytest.mark.parametrize("gap", ["\r", "\n", "\0", "\r\n", "\r\n\r\n"])
def test_no_url_can_break_out_of_its_line(gap: str) -> None:
    stored = warc.member(replace(make_body(), url=f"https://marsh.test/frog{gap}WARC-Type: metadata"))
    head = zlib.decompress(stored, warc.GZIP_WBITS).partition(b"\r\n\r\n")[0]
    lines = head.split(b"\r\n")
    assert lines[4] == b"WARC-Target-URI: https://marsh.test/frog" + b" " * len(gap) + b"WARC-Type: metadata"
    assert len(lines) == 8


def test_a_header_that_no_charset_can_write_does_not_lose_the_page() -> None:
    record, content = read_by_warcio(warc.member(make_body(headers=(("x-frog", "quak \ud800"),))))
    assert content == make_body().content
    assert record.http_headers.get_header("x-frog") == "quak ?"


def test_headers_beyond_their_room_are_left_out_so_that_the_page_stays_readable() -> None:
    body = make_body(headers=tuple(("x", "\U0001f438" * 100) for _ in range(20_000)))
    stored = warc.member(body)
    assert warc.payload(stored, reference_to(body, stored)) == body.content


def test_what_could_not_be_read_back_is_refused_when_written() -> None:
    endless = replace(make_body(), url="https://marsh.test/" + "f" * warc.HEAD_BYTES_MAX)
    huge = replace(make_body(), content=bytes(warc.BODY_BYTES_MAX + 1))
    for body in (endless, huge):
        with pytest.raises(BadParams, match="do not fit a segment"):
            warc.member(body)


def test_every_flipped_bit_is_detected_or_changes_no_byte_of_the_record() -> None:
    """Time and hints in the gzip header, and the padding after the last bit, are covered by no checksum."""
    body = make_body(content=b"<p>frog</p>")
    stored = warc.member(body)
    unnoticed = [broken for broken in flipped(stored) if not is_corrupt(broken, reference_to(body, stored))]
    assert {zlib.decompress(each, warc.GZIP_WBITS) for each in unnoticed} == {zlib.decompress(stored, warc.GZIP_WBITS)}
    assert len(unnoticed) <= 6 * 8 + 7


def flipped(stored: bytes) -> Iterator[bytes]:
    for place, bit in product(range(len(stored)), range(8)):
        yield bytes((*stored[:place], stored[place] ^ (1 << bit), *stored[place + 1 :]))


def is_corrupt(stored: bytes, reference: BodyRef) -> bool:
    try:
        warc.payload(stored, reference)
    except Corrupt:
        return True
    return False


def test_a_page_with_another_hash_is_corrupt_although_the_file_is_sound() -> None:
    body = make_body()
    stored = warc.member(body)
    other = replace(reference_to(body, stored), sha256=sha256(b"toad").digest())
    with pytest.raises(Corrupt, match=r"segment J-1/w-1\.warc\.gz at offset 0: .* sha256"):
        warc.payload(stored, other)


def test_a_wrong_size_is_corrupt() -> None:
    body = make_body()
    stored = warc.member(body)
    for size in (0, len(body.content) - 1, len(body.content) + 1, 100_000):
        with pytest.raises(Corrupt, match="sha256"):
            warc.payload(stored, replace(reference_to(body, stored), size=size))


def test_a_size_that_no_page_can_have_is_not_even_tried() -> None:
    body = make_body()
    stored = warc.member(body)
    for size in (-1, -(1 << 40), warc.BODY_BYTES_MAX + 1, 1 << 63):
        with pytest.raises(Corrupt, match="claims a body of"):
            warc.payload(stored, replace(reference_to(body, stored), size=size))


def test_a_bomb_is_not_unpacked_beyond_what_its_reference_allows() -> None:
    bomb = zlib.compress(bytes(64 * 1024 * 1024) + warc.END, 9, warc.GZIP_WBITS)
    with pytest.raises(Corrupt, match="larger than its reference says"):
        warc.payload(bomb, reference_to(make_body(), bomb))


def test_two_members_under_one_reference_are_corrupt() -> None:
    body = make_body()
    stored = warc.member(body)
    with pytest.raises(Corrupt, match="shorter than its reference says"):
        warc.payload(stored + stored, reference_to(body, stored))
