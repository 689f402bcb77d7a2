"""What is an image and what is not, found by decoding (IMG-07); in a process that cannot take the crawl with it."""

from __future__ import annotations

import io
import os
import signal
import struct
import threading
import zipfile
import zlib
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from holdfast.demo.engines.pictures import scene
from holdfast.engine.execute import HANDED_BACK
from holdfast.errors import FetchError
from holdfast.recipes.images.validation import EXTENSIONS, Rules, validate
from holdfast.recipes.images.validation_process import ValidationPool, ValidationProcess

RULES = Rules()


def picture(size=(300, 260)):
    return scene(7, "frog", 1).resize(size)


@cache
def whole(name):
    return file(name)


def file(name="JPEG", image=None, **options):
    out = io.BytesIO()
    (image or picture()).save(out, name, **options)
    return out.getvalue()


def png_header(width, height):
    """A PNG that says it is that large, and has one short block of data."""

    def block(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = block(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + block(b"IDAT", zlib.compress(bytes(1_000_000))) + block(b"IEND", b"")


@pytest.mark.parametrize("name", EXTENSIONS)
def test_every_format_is_known_by_its_content(name):
    found = validate(file(name), RULES)

    assert found.is_valid, found
    assert (found.format, found.width, found.height, found.frames) == (name, 300, 260, 1)
    assert found.phash is not None
    assert len(found.signature) == 384
    assert found.extension == EXTENSIONS[name]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "too_few_bytes"),
        (b"GIF89a" + b"x" * 500, "too_few_bytes"),
        (file() + bytes(50_000_000), "too_many_bytes"),
        (b"<!doctype html><title>no</title>" * 100, "not_an_image"),
        (b"GIF89a" + b"/*" + b"alert(1);" * 300, "not_an_image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>" + b" " * 2000 + b"</svg>", "not_an_image"),
        (b"%PDF-1.7\n" + b"x" * 3000, "not_an_image"),
        (file("PNG", picture((199, 400))), "too_small"),
        (png_header(20_000, 20_000), "too_many_pixels"),
        (png_header(4_000_000_00, 10), "too_many_pixels"),
        (file("GIF", save_all=True, append_images=[picture().rotate(90)]), "animated"),
        (file("WEBP", save_all=True, append_images=[picture().rotate(90)]), "animated"),
        (file("PNG", save_all=True, append_images=[picture().rotate(90)]), "animated"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(body, error):
    found = validate(body, RULES)

    assert not found.is_valid
    assert error in found.errors
    assert found.phash is None
    assert found.size_bytes == len(body)


@pytest.mark.parametrize("name", ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_file_that_was_cut_off_is_never_valid(name, share):
    body = whole(name)
    found = validate(body[: round(len(body) * share)], RULES)

    assert set(found.errors) & {"truncated", "undecodable", "not_an_image"}, found


def test_a_large_picture_within_the_limit_is_decoded_within_bounds():
    found = validate(file("PNG", Image.new("L", (9_000, 9_000))), RULES)

    assert found.is_valid
    assert (found.width, found.height) == (9_000, 9_000)


@pytest.mark.parametrize("mode", ["CMYK", "L", "1", "P", "I;16", "RGBA", "LA", "F"])
def test_pictures_of_any_mode_get_their_marks(mode):
    name = {"CMYK": "JPEG", "F": "TIFF"}.get(mode, "PNG")
    grey = picture().convert("L")
    image = grey.convert("I").point(lambda value: value * 256).convert("I;16") if mode == "I;16" else None
    found = validate(file(name, image or picture().convert(mode)), RULES)

    assert found.is_valid, found
    expected = validate(file("PNG", grey), RULES)
    assert found.phash is not None
    assert expected.phash is not None
    assert (found.phash ^ expected.phash).bit_count() <= 10


@pytest.mark.parametrize("colour", ["white", "black"])
def test_a_thumbnail_shows_what_stands_on_transparent_ground(colour):
    image = Image.new("RGBA", (300, 300), (0, 0, 0, 0))
    image.paste(colour, (0, 100, 300, 200))
    found = validate(file("PNG", image), Rules(bytes_min=0, thumbnail_px=96))
    small = Image.open(io.BytesIO(found.thumbnail)).convert("L")
    inside, around = small.resize((3, 3), Image.Resampling.BOX).getpixel((1, 1)), small.getpixel((48, 10))

    assert abs(inside - around) > 40


def test_exif_rotation_is_applied_to_sides_and_marks():
    turned = Image.Exif()
    turned[0x0112] = 6
    upright = validate(file("JPEG", quality=95), RULES)
    sideways = validate(file("JPEG", picture().rotate(90, expand=True), exif=turned, quality=95), RULES)

    assert (sideways.width, sideways.height) == (300, 260)
    assert upright.phash is not None
    assert sideways.phash is not None
    assert (upright.phash ^ sideways.phash).bit_count() <= 4


def test_what_follows_an_image_is_counted():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("run.sh", "echo")
    extra = archive.getvalue()

    for name in ("JPEG", "PNG"):
        assert validate(file(name), RULES).trailing_bytes == 0
        assert validate(file(name) + extra, RULES).trailing_bytes == len(extra)


def test_a_jpeg_of_a_phone_with_a_smaller_picture_behind_it_is_a_picture():
    found = validate(file("MPO", save_all=True, append_images=[picture((64, 56))]), RULES)

    assert found.is_valid, found
    assert (found.format, found.frames, found.extension) == ("JPEG", 1, "jpg")
    assert (found.width, found.height) == (300, 260)


def test_animations_are_kept_where_they_are_wanted_and_judged_by_their_first_frame():
    moving = file("GIF", save_all=True, append_images=[picture().rotate(180)])
    found = validate(moving, Rules(animated=True))

    assert found.is_valid
    assert found.frames == 2
    assert found.phash == validate(file("GIF"), RULES).phash


def test_a_thumbnail_is_made_where_it_is_wanted():
    thumbnail = validate(file("PNG", picture((1200, 800))), Rules(thumbnail_px=160)).thumbnail

    assert Image.open(io.BytesIO(thumbnail)).size == (160, 107)
    assert validate(file(), RULES).thumbnail == b""


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(tuple(EXTENSIONS)), st.data())
def test_damaged_files_are_judged_and_never_raise(name, data):
    body = bytearray(whole(name))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, min(len(body) - 1, 4_000)))
        body[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    found = validate(bytes(body), RULES)

    assert found.is_valid == (found.phash is not None)


@pytest.fixture
def process():
    child = ValidationProcess()
    yield child
    child.close()


def test_a_process_answers_a_batch_in_its_order(process, tmp_path):
    (tmp_path / "a.bin").write_bytes(file("WEBP"))
    sources = [file(), b"<html>" * 300, str(tmp_path / "a.bin"), str(tmp_path / "missing")]
    found = process.check(sources, RULES)

    assert [one.format for one in found[:3]] == ["JPEG", "", "WEBP"]
    assert found[0] == validate(file(), RULES)
    assert found[3].errors == ("crashed",)  # a file that is not there is nobody's image
    assert process.check([], RULES) == []


def test_a_batch_that_kills_its_process_costs_only_the_file_that_did(process):
    good = file()
    assert process.check([good], RULES)[0].is_valid
    os.kill(process._child.pid, signal.SIGKILL)

    assert [one.is_valid for one in process.check([good, good], RULES)] == [True, True]


def test_a_decoder_that_takes_too_long_is_ended_and_the_next_file_is_judged(process):
    large = file("PNG", Image.linear_gradient("L").resize((8_000, 8_000)))
    slow = ValidationProcess(cpu_s=0.05)
    try:
        found = slow.check([large], RULES)[0]
        assert (found.errors, found.message) == (("crashed",), "it takes too long to decode")
        assert slow.check([file()], RULES)[0].is_valid
    finally:
        slow.close()
    assert process.check([large], RULES)[0].is_valid


def test_an_image_has_its_time_by_the_clock_of_the_processor(tmp_path):
    """IMG-07: what a busy computer takes for the rest of its work is not counted, nor is the start of a decoder."""
    late = tmp_path / "pipe.jpg"
    os.mkfifo(late)
    child = ValidationProcess(cpu_s=0.5)
    writer = threading.Timer(1.5, late.write_bytes, (file(),))  # three times as long, by the clock on the wall
    writer.start()
    try:
        assert child.check([str(late)], RULES)[0].is_valid
    finally:
        writer.join()
        child.close()


def test_an_image_whose_decoder_stands_still_is_given_back_and_the_next_one_is_judged(tmp_path):
    """IMG-07: a busy computer, or a disk that stands still, says nothing of the file."""
    stuck = tmp_path / "pipe.jpg"
    os.mkfifo(stuck)  # opening it waits for a writer that never comes
    child = ValidationProcess(answer_s=1)
    try:
        with pytest.raises(FetchError, match="no answer in time") as error:
            child.check([str(stuck)], RULES)
        assert error.value.code in HANDED_BACK
        assert child.check([file()], RULES)[0].is_valid
    finally:
        child.close()


def test_a_decoder_that_wants_too_much_memory_is_an_answer(process):
    bomb = png_header(60_000, 60_000)
    wide = Rules(pixels_max=10**12)
    found = process.check([bomb, file()], wide)

    assert not found[0].is_valid
    assert found[1].is_valid


def test_a_process_is_replaced_after_its_share_of_files():
    child = ValidationProcess(files_max=2)
    try:
        child.check([file(), file()], RULES)
        first = child._child.pid
        child.check([file()], RULES)
        assert child._child.pid != first
    finally:
        child.close()


def test_a_pool_serves_many_threads():
    pool = ValidationPool(2)
    found = []
    threads = [threading.Thread(target=lambda: found.extend(pool.check([file()], RULES))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pool.close()

    assert [one.is_valid for one in found] == [True] * 5
