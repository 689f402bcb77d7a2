"""Hostile files among good ones: each ends as what it is, within bounds of bytes, time and memory (IMG-07)."""

from __future__ import annotations

import io
import json
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from cli.image_jobs import QUICK, run
from holdfast.demo.engines.pictures import scene
from holdfast.recipes.images.validation import Rules, Validation
from holdfast.recipes.images.validation_process import ValidationProcess

HUGE = 2 * 1024**3
SENT_MAX = 30_000_000  # of 2 GB: as many megabytes as are allowed are taken, and the sockets hold some
PEAK_MB_MAX = 250
CPU_S_MAX = 5.0


def picture(number: int) -> Image.Image:
    return scene(7, "frog", number).resize((320, 260))


def file(name: str, image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, name, **options)
    return out.getvalue()


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("run.sh", "echo")
    return out.getvalue()


@cache
def bomb(side: int = 50_000) -> bytes:
    """A whole PNG of `side` × `side` black pixels, one bit each: 300 KB that are 312 MB, or 2.5 GB in memory.

    Equal blocks are packed once: after a full flush a block is packed as the one before it.
    """
    raw = side * (side // 8 + 1)
    packer = zlib.compressobj(9)
    first, block = (packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    rest = packer.compress(bytes(raw & (1 << 20) - 1)) + packer.flush()
    adler = struct.pack(">I", (raw % 65_521) << 16 | 1)  # of zeros
    data = first + block * ((raw >> 20) - 1) + rest[:-4] + adler
    parts = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in parts)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@cache
def of_megapixels(side: int) -> bytes:
    return file("JPEG", Image.linear_gradient("L").resize((side, side), Image.Resampling.NEAREST))


def rotated() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


@cache
def files() -> dict[str, bytes]:
    return {
        "first.jpg": file("JPEG", picture(1)),
        "bomb.png": bomb(),
        "large.jpg": of_megapixels(10_000),
        "larger.jpg": of_megapixels(10_000).replace(
            struct.pack(">HH", 10_000, 10_000), struct.pack(">HH", 10_001, 10_000)
        ),
        "zip.jpg": file("JPEG", picture(2)) + archive(),
        "html.jpg": b"<!doctype html><script>alert(1)</script>" * 50 + file("JPEG", picture(3)),
        "moving.gif": file("GIF", picture(4), save_all=True, append_images=[picture(5)]),
        "cmyk.jpg": file("JPEG", picture(6).convert("CMYK")),
        "turned.jpg": file("JPEG", picture(7).rotate(90, expand=True), exif=rotated()),
        "last.jpg": file("JPEG", picture(8)),
    }


EXPECTED = {
    "first.jpg": "image",
    "bomb.png": "too_many_pixels",
    "large.jpg": "image",
    "larger.jpg": "too_many_pixels",
    "zip.jpg": "image",
    "html.jpg": "not_an_image",
    "moving.gif": "animated",
    "cmyk.jpg": "image",
    "turned.jpg": "image",
    "huge-2gb.jpg": "too_many_bytes",
    "endless-2gb.jpg": "too_many_bytes",
    "last.jpg": "image",
}


class Answers(BaseHTTPRequestHandler):
    """The files, and two of 2 GB: one says so beforehand, one does not."""

    sent: dict[str, int] = {}  # noqa: RUF012  one server, one test

    def do_GET(self) -> None:
        name = self.path[1:]
        body = None if "2gb" in name else files().get(name)
        if body is None and "2gb" not in name:
            self.send_error(404)
            return
        self.send_response(200)
        if not name.startswith("endless"):
            self.send_header("Content-Length", str(len(body) if body is not None else HUGE))
        self.end_headers()
        try:
            for part in (body,) if body is not None else self._large():
                self.wfile.write(part)
                self.sent[name] = self.sent.get(name, 0) + len(part)
        except OSError:
            self.close_connection = True

    def _large(self) -> Iterator[bytes]:
        yield of_megapixels(1_000)
        part = bytes(1 << 20)
        for _ in range(HUGE >> 20):
            yield part

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def at() -> Iterator[str]:
    files()  # made once, not by every thread at once
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_hostile_files_end_as_what_they_are_and_their_neighbours_are_kept(at: str, tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text("url\n" + "".join(f"{at}/{name}\n" for name in EXPECTED))
    done = run(tmp_path, "images", "--from", "urls.csv", "--max-bytes", "10MB", *QUICK)

    assert done.code == 0, done.err
    rows = [json.loads(line) for line in run(tmp_path, "targets", "urls", "--jsonl").out.splitlines()]
    fates = {row["url"].rpartition("/")[2]: row["rule"] for row in rows if row["type"] == "download"}
    kept = [json.loads(line) for line in run(tmp_path, "export", "urls", "-o", "-").out.splitlines()]
    fates |= {row["url"].rpartition("/")[2]: "image" for row in kept}
    assert fates == EXPECTED
    shown = {row["url"].rpartition("/")[2]: (row["width"], row["height"]) for row in kept}
    assert (shown["turned.jpg"], shown["large.jpg"]) == ((320, 260), (10_000, 10_000))
    assert max(Answers.sent.values()) < SENT_MAX
    assert {path.stat().st_size for path in (tmp_path / "holdfast-data").rglob("*") if path.is_file()} <= set(
        range(10_000_001)
    )


def test_an_image_that_does_not_end_is_cut_off(at: str, tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text(f"url\n{at}/endless-2gb.jpg\n")
    Answers.sent.clear()
    run(tmp_path, "images", "--from", "urls.csv", "--max-bytes", "10MB", *QUICK)

    assert 10_000_000 < Answers.sent["endless-2gb.jpg"] < SENT_MAX


def in_process(body: bytes) -> tuple[Validation, float, float]:
    """What is found, the peak of the process in MB, and its CPU seconds, start included."""
    process = ValidationProcess()
    try:
        found = process.check([body], Rules(thumbnail_px=192))[0]
        proc = Path(f"/proc/{process._child.pid}")
        peak = next(int(line.split()[1]) for line in (proc / "status").read_text().splitlines() if "VmHWM" in line)
        ticks = (proc / "stat").read_text().rpartition(")")[2].split()
        return found, peak / 1024, (int(ticks[11]) + int(ticks[12])) / 100
    finally:
        process.close()


@pytest.mark.parametrize("name", ["bomb.png", "large.jpg", "larger.jpg"])
def test_files_that_are_large_when_decoded_cost_little(name: str) -> None:
    found, peak_mb, cpu_s = in_process(files()[name])

    assert (found.errors or ("image",))[0] == EXPECTED[name]
    assert peak_mb < PEAK_MB_MAX
    assert cpu_s < CPU_S_MAX


def test_what_was_appended_to_an_image_is_told() -> None:
    assert in_process(files()["zip.jpg"])[0].trailing_bytes == len(archive())
