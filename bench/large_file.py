"""One large file: what memory it takes, and whether a download that was killed half-way is continued by Range."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.measure import Memory

BLOCK = 1 << 20
LOOK_EVERY_S = 0.01


def measure(folder: Path, size: int, port: int, log: Path) -> dict[str, Any]:
    """Its first process is killed with kill -9 when half of the file is there; the same command goes on. `log` has a
    line of the server's for each answer: its status, and how many bytes were sent."""
    place = folder / "large"
    place.mkdir()
    digest = _fill(folder / "www" / "large.bin", size)
    (folder / "large.csv").write_text(f"Link\nhttp://127.0.0.1:{port}/large.bin\n")
    words = [sys.executable, "-m", "holdfast", "docs", str(folder / "large.csv"), "--columns", "url=Link",
             "--delay", "0", "--allow-private"]  # fmt: skip
    before_mb = _killed_at(words, place, size // 2)
    there = _there(place)
    after_mb = _killed_at(words, place, None)
    [kept] = [path for path in place.glob("holdfast-data/artifacts/files/*/*") if path.is_file()]
    answers = [line.split() for line in log.read_text().splitlines() if "/large.bin" in line]
    return {
        "bytes": size,
        "killed_at": there,
        "peak_mb": max(before_mb, after_mb),
        "answers": [[int(status), int(sent)] for _, status, sent in answers],
        "same_hash": _hash_of(kept) == digest,
    }


def _fill(path: Path, size: int) -> bytes:
    """No two blocks are equal, and making them costs little."""
    block, digest = os.urandom(BLOCK), hashlib.sha256()
    with path.open("wb") as file:
        for n in range(size // BLOCK):
            piece = n.to_bytes(8, "big") + block[8:]
            digest.update(piece)
            file.write(piece)
    return digest.digest()


def _hash_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _there(place: Path) -> int:
    """Bytes of it that have come in."""
    total = 0
    for part in place.glob("holdfast-data/artifacts/.partial/*.part"):
        with suppress(FileNotFoundError):
            total += part.stat().st_size
    return total


def _killed_at(words: list[str], place: Path, size: int | None) -> float:
    """Its peak memory in MB. None: it comes to its end."""
    memory, quiet = Memory(), subprocess.DEVNULL
    with subprocess.Popen(words, cwd=place, stdin=quiet, stdout=quiet, stderr=quiet) as running:
        while running.poll() is None:
            memory.look(running.pid)
            if size is not None and _there(place) >= size:
                running.kill()
                break
            time.sleep(LOOK_EVERY_S)
    if size is None and running.returncode:
        raise SystemExit(f"the large file: holdfast ended with {running.returncode}")
    return memory.peak_mb
