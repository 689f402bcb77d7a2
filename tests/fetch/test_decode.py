"""Content decoding under budgets, without a socket (H3, PER-15)."""

from __future__ import annotations

import gzip
import random
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from fetch.hostile import raw_deflate
from holdfast.errors import FetchError
from holdfast.fetch.http.decode import ACCEPTED, Decoder, encodings_of
from holdfast.fetch.http.unpackers import STEP_BYTES
from holdfast.model.exchange import Budget

PACKERS = {
    "gzip": (gzip.compress, "gzip"),
    "zlib": (zlib.compress, "deflate"),
    "raw": (raw_deflate, "deflate"),
    "brotli": (brotli.compress, "br"),
    "zstd": (zstd.compress, "zstd"),
}
BOMB = 12_000_000
NOISE = random.Random(7).randbytes(100_000)


def with_checksum(body: bytes) -> bytes:
    return zstd.compress(body, options={zstd.CompressionParameter.checksum_flag: 1})


def decoded(wire: bytes, *encodings: str, chunk_bytes: int = 16_384, budget: Budget | None = None) -> bytes:
    decoder = Decoder(encodings, budget or Budget())
    for start in range(0, len(wire), chunk_bytes):
        decoder.feed(wire[start : start + chunk_bytes])
    return decoder.finish()


def code_of(wire: bytes, *encodings: str, **more: int) -> str:
    with pytest.raises(FetchError) as failure:
        decoded(wire, *encodings, budget=Budget(**more))
    return failure.value.code


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(PACKERS)), max_size=2), st.binary(max_size=3000), st.integers(1, 40))
def test_what_was_packed_comes_out_whole_however_it_is_cut(names: list[str], body: bytes, chunk_bytes: int) -> None:
    wire, encodings = body, []
    for name in names:
        pack, encoding = PACKERS[name]
        wire = pack(wire)
        encodings.append(encoding)
    assert decoded(wire, *encodings, chunk_bytes=chunk_bytes) == body


@pytest.mark.parametrize("size", [STEP_BYTES - 1, STEP_BYTES, STEP_BYTES + 1, 20 * STEP_BYTES])
@pytest.mark.parametrize("name", sorted(PACKERS))
def test_a_body_longer_than_a_step_comes_out_whole(name: str, size: int) -> None:
    pack, encoding = PACKERS[name]
    body = (b"frog" * size)[:size]
    assert decoded(pack(body), encoding, budget=Budget(ratio_max=1_000_000)) == body


def test_several_gzip_members_are_one_body_and_padding_is_dropped() -> None:
    wire = gzip.compress(b"frog ") + gzip.compress(b"and toad") + b"\0" * 10
    for chunk_bytes in (1, 7, len(wire)):
        assert decoded(wire, "gzip", chunk_bytes=chunk_bytes) == b"frog and toad"
    assert decoded(zlib.compress(b"frog") + gzip.compress(b"padding"), "deflate") == b"frog"


def test_no_bytes_at_all_are_an_empty_body() -> None:
    assert decoded(b"", "gzip") == b""


@pytest.mark.parametrize("kept", [1, 2, 12, 50, -1])
@pytest.mark.parametrize("name", sorted(PACKERS))
def test_a_packed_body_that_ends_early_is_incomplete(name: str, kept: int) -> None:
    pack, encoding = PACKERS[name]
    assert code_of(pack(NOISE)[:kept], encoding) == "body_incomplete"


def test_a_second_member_that_ends_early_is_incomplete() -> None:
    assert code_of(gzip.compress(b"frog") + gzip.compress(NOISE)[:-1], "gzip") == "body_incomplete"


def test_the_inner_encoding_that_ends_early_is_incomplete() -> None:
    assert code_of(gzip.compress(gzip.compress(NOISE)[:-1]), "gzip", "gzip") == "body_incomplete"


@pytest.mark.parametrize("name", sorted(PACKERS))
def test_what_is_not_packed_as_it_says_is_no_valid_answer(name: str) -> None:
    assert code_of(b"<p>not packed at all</p>" * 9, PACKERS[name][1]) == "bad_response"


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", with_checksum)]
)
def test_a_body_whose_checksum_is_wrong_is_no_valid_answer(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    broken = bytearray(pack(NOISE))
    broken[-1] ^= 1
    assert code_of(bytes(broken), encoding) == "bad_response"


def test_zstd_frames_are_one_body_skippable_ones_are_nothing_and_padding_is_dropped() -> None:
    skippable = b"\x53\x2a\x4d\x18" + struct.pack("<I", 3) + b"pad"
    wire = skippable + zstd.compress(b"frog ") + skippable + zstd.compress(b"and toad") + b"\0" * 3
    for chunk_bytes in (1, 7, len(wire)):
        assert decoded(wire, "zstd", chunk_bytes=chunk_bytes) == b"frog and toad"


def test_brotli_knows_no_padding() -> None:
    wire = brotli.compress(b"frog") + b"\0\0"
    for chunk_bytes in (1, len(wire)):
        with pytest.raises(FetchError, match="br") as failure:
            decoded(wire, "br", chunk_bytes=chunk_bytes)
        assert failure.value.code == "bad_response"


def test_a_zstd_frame_that_wants_more_memory_than_the_web_allows_is_no_valid_answer() -> None:
    """RFC 9659: a window of 8 MB; this one asks for 128 MB before a single byte comes out."""
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    wire = packer.compress(NOISE) + packer.flush()
    with pytest.raises(FetchError, match="too much memory"):
        decoded(wire, "zstd")


def test_what_is_asked_for_is_what_can_be_undone() -> None:
    assert ACCEPTED == "gzip, deflate, br, zstd"
    assert {encoding for _, encoding in PACKERS.values()} == set(ACCEPTED.split(", "))


@pytest.mark.parametrize("encoding", ["compress", "frog", "dcb", "aws-chunked"])
def test_an_encoding_that_was_not_asked_for_is_no_valid_answer(encoding: str) -> None:
    assert code_of(b"x", encoding) == "bad_response"


def test_the_size_limit_counts_decoded_bytes_and_lets_the_last_one_through() -> None:
    body = NOISE[:50_000] + bytes(50_000)
    for wire, encodings in ((body, ()), (gzip.compress(body), ("gzip",))):
        assert decoded(wire, *encodings, budget=Budget(body_bytes_max=100_000)) == body
        assert code_of(wire, *encodings, body_bytes_max=99_999) == "body_too_large"


def test_an_inner_layer_above_the_size_limit_is_refused_although_little_comes_out() -> None:
    inner = gzip.compress(b"frog") + NOISE
    assert code_of(gzip.compress(inner), "gzip", "gzip", body_bytes_max=50_000) == "body_too_large"


@pytest.mark.parametrize("name", sorted(PACKERS))
def test_a_bomb_is_stopped_before_it_fills_the_memory(name: str) -> None:
    pack, encoding = PACKERS[name]
    wire = pack(bytes(BOMB))
    decoder = Decoder((encoding,), Budget())
    tracemalloc.start()
    try:
        with pytest.raises(FetchError, match="unpacked into") as failure:
            decoder.feed(wire)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert failure.value.code == "bomb"


def test_a_bomb_inside_another_encoding_is_a_bomb_too() -> None:
    wire = gzip.compress(gzip.compress(bytes(12_000_000)))
    assert code_of(wire, "gzip", "gzip") == "bomb"


def test_the_ratio_counts_only_after_a_megabyte_and_only_above_its_limit() -> None:
    small = gzip.compress(bytes(999_999))
    assert len(decoded(small, "gzip")) == 999_999
    assert code_of(gzip.compress(bytes(1_000_000)), "gzip") == "bomb"
    fair = gzip.compress(NOISE * 30)
    assert len(decoded(fair, "gzip", budget=Budget(ratio_max=2))) == 3_000_000


def test_encodings_nested_deeper_than_two_are_a_bomb() -> None:
    assert code_of(b"", "gzip", "gzip", "deflate") == "bomb"


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((), ()),
        (("identity",), ()),
        (("",), ()),
        (("GZIP",), ("gzip",)),
        (("x-gzip",), ("gzip",)),
        (("deflate , gzip",), ("deflate", "gzip")),
        (("deflate", "gzip"), ("deflate", "gzip")),
    ],
)
def test_content_encoding_is_read_in_every_spelling(values: tuple[str, ...], names: tuple[str, ...]) -> None:
    headers = [("content-type", "br"), *(("content-encoding", value) for value in values)]
    assert encodings_of(headers) == names


def test_a_body_that_may_be_large_may_have_as_many_members_more() -> None:
    wire = gzip.compress(b"frog") * 5_000
    assert code_of(wire, "gzip") == "bomb"
    assert decoded(wire, "gzip", budget=Budget(body_bytes_max=200_000_000)) == b"frog" * 5_000
